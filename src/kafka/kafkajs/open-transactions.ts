/** ListTransactions over all brokers: whose transactions hold back readers and offsets. Called when a dead owner is looked for. */
import { KafkaTransportError } from '../../errors.js';
import { backoffMs, delay } from '../backoff.js';
import { ErrorCodes, errorName, isAuthorizationError } from '../error-codes.js';
import { commonVersion } from '../protocol/api.js';
import type { ListTransactionsResponse } from '../protocol/list-transactions.js';
import { listTransactions } from '../protocol/list-transactions.js';
import { brokerError } from './broker-error.js';
import type { ClusterConnections } from './cluster-connections.js';

const OPEN_STATES = ['Ongoing', 'PrepareCommit', 'PrepareAbort'];
const ATTEMPTS = 10;
const BACKOFF = { initialMs: 20, maxMs: 500 };

export async function listOpenTransactions(cluster: ClusterConnections, prefix: string): Promise<readonly string[] | null> {
  const { brokers } = await cluster.readMetadata([]);
  const answers = await Promise.all(brokers.map(({ nodeId }) => ask(cluster, nodeId)));
  const ids = new Set<string>();
  for (const answer of answers) {
    if (answer === null || isAuthorizationError(answer.errorCode)) return null;
    for (const { transactionalId } of answer.transactions) if (transactionalId.startsWith(prefix)) ids.add(transactionalId);
  }
  return [...ids].sort();
}

/** null: the broker lacks the request. */
async function ask(cluster: ClusterConnections, nodeId: number): Promise<ListTransactionsResponse | null> {
  for (let attempt = 1; ; attempt++) {
    const answer = await cluster.with('main', nodeId, async (connection) =>
      commonVersion(listTransactions, connection.versions) < 0 ? null : connection.send(listTransactions, { states: OPEN_STATES }),
    );
    if (answer === null || answer.errorCode === ErrorCodes.NONE || isAuthorizationError(answer.errorCode)) return answer;
    if (answer.errorCode !== ErrorCodes.COORDINATOR_LOAD_IN_PROGRESS && answer.errorCode !== ErrorCodes.COORDINATOR_NOT_AVAILABLE) {
      throw brokerError(answer.errorCode, 'Listing the transactions of', `broker ${nodeId}`);
    }
    if (attempt === ATTEMPTS)
      throw new KafkaTransportError(`Broker ${nodeId} does not know its transactions yet: ${errorName(answer.errorCode)}.`);
    await delay(backoffMs(attempt, BACKOFF, Math.random));
  }
}
