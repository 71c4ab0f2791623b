/**
 * Remembers which broker coordinates a group or a transactional id, and finds it.
 *
 * A look-up goes on until there is a coordinator, the signal aborts or the port closes: a cluster that has just started creates
 * the internal topics only now. Called by the port, and by the admin for its group requests.
 */
import { KafkaTransportError } from '../../errors.js';
import type { Logger } from '../../observability/logger.js';
import { backoffMs, delay } from '../backoff.js';
import { ErrorCodes, errorName } from '../error-codes.js';
import type { CoordinatorKind } from '../port.js';
import { findCoordinator } from '../protocol/find-coordinator.js';
import { brokerError } from './broker-error.js';
import type { ClusterConnections } from './cluster-connections.js';

const BACKOFF = { initialMs: 20, maxMs: 1000 };

export class Coordinators {
  private readonly known = new Map<string, number>();

  constructor(
    private readonly cluster: ClusterConnections,
    private readonly logger: Logger,
    private readonly closed: AbortSignal,
  ) {}

  async find(
    kind: CoordinatorKind,
    key: string,
    options: { readonly refresh?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    const cacheKey = `${kind}:${key}`;
    if (options.refresh === true) this.known.delete(cacheKey);
    const known = this.known.get(cacheKey);
    if (known !== undefined) return known;
    const signal = options.signal === undefined ? this.closed : AbortSignal.any([options.signal, this.closed]);
    for (let failures = 1; ; failures++) {
      signal.throwIfAborted();
      const nodeId = await this.ask(kind, key);
      if (nodeId !== null) {
        this.known.set(cacheKey, nodeId);
        return nodeId;
      }
      await delay(backoffMs(failures, BACKOFF, Math.random), signal);
    }
  }

  /** null: ask again later. */
  private async ask(kind: CoordinatorKind, key: string): Promise<number | null> {
    try {
      const answer = await this.cluster.withAny((connection) => connection.send(findCoordinator, { kind, key }));
      switch (answer.errorCode) {
        case ErrorCodes.NONE:
          this.cluster.view.learn(answer.nodeId, answer);
          return answer.nodeId;
        case ErrorCodes.COORDINATOR_NOT_AVAILABLE:
        case ErrorCodes.COORDINATOR_LOAD_IN_PROGRESS:
        case ErrorCodes.REQUEST_TIMED_OUT:
          this.logger.debug({ kind, key, error: errorName(answer.errorCode) }, 'no coordinator yet');
          return null;
        default:
          throw brokerError(
            answer.errorCode,
            'Finding the coordinator of',
            kind === 'group' ? `group ${key}` : `transactional id ${key}`,
            answer.errorMessage,
          );
      }
    } catch (error) {
      if (!(error instanceof KafkaTransportError)) throw error;
      this.logger.debug({ kind, key, err: error }, 'no broker could be asked for the coordinator');
      return null;
    }
  }
}
