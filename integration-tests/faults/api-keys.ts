/** Requests that the tests interfere with, by their number in the Kafka protocol. */
export const ApiKeys = {
  produce: 0,
  fetch: 1,
  listOffsets: 2,
  metadata: 3,
  offsetFetch: 9,
  findCoordinator: 10,
  joinGroup: 11,
  heartbeat: 12,
  syncGroup: 14,
  initProducerId: 22,
  endTxn: 26,
  txnOffsetCommit: 28,
} as const;
