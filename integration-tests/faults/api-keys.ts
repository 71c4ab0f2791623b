/** Requests that the tests interfere with, by their number in the Kafka protocol. */
export const ApiKeys = {
  produce: 0,
  fetch: 1,
  offsetFetch: 9,
  heartbeat: 12,
  joinGroup: 11,
  syncGroup: 14,
  initProducerId: 22,
  endTxn: 26,
  txnOffsetCommit: 28,
} as const;
