/**
 * Frees what the open transaction of a dead member holds back: InitProducerId with its transactional id aborts that transaction at once,
 * instead of after its timeout.
 *
 * Invariant: never the id of a live member, however old the knowledge gets while this runs, and never one of another application. Called
 * by the task opener when committed offsets are pending and by the restorer when a changelog's last stable offset lags.
 */
import { KafkaTransportError } from '../errors.js';
import { backoffMs, delay } from '../kafka/backoff.js';
import type { KafkaPort } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import { classify, describeCode } from './producer/answer-class.js';
import { concurrentPauseMs, retryPause } from './producer/retry-pause.js';

export interface FenceDeadOwnersOptions {
  readonly port: Pick<KafkaPort, 'findCoordinator' | 'initProducerId' | 'listOpenTransactions'>;
  readonly applicationId: string;
  /** Transactional ids found in committed metadata; those of other applications are ignored. */
  readonly candidates: readonly string[];
  /** Ids of the group's members now; null while the membership is not stable, then nothing is fenced. */
  readonly liveTransactionalIds: () => ReadonlySet<string> | null;
  /** Reads the members anew, once it is known whose transactions are open: who began one by then is among them, or dead. Default: what is known is current. */
  readonly refreshMembers?: () => Promise<void>;
  /** Whether this member is still in the generation in which it asked. */
  readonly isStillCurrent: () => boolean;
  readonly logger: Logger;
  /** Milliseconds spent on one id at most; default 10 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** @returns the ids whose open transaction, if there was one, is aborted now */
export async function fenceDeadOwners(options: FenceDeadOwnersOptions): Promise<readonly string[]> {
  const { applicationId, candidates, logger } = options;
  if (options.liveTransactionalIds() === null || !options.isStillCurrent()) return [];
  const ids = new Set([...candidates, ...(await openTransactions(options))].filter((id) => belongsTo(applicationId, id)));
  if (ids.size === 0 || !(await membersAreCurrent(options))) return [];
  const fenced: string[] = [];
  for (const id of ids) {
    if (await fence(id, options)) {
      fenced.push(id);
      logger.info({ transactionalId: id }, 'aborted what a member that left the group had open');
    }
  }
  return fenced;
}

/** The id of thread `thread` in the process with this (lower-case) UUID. */
export function transactionalIdOf(applicationId: string, processId: string, thread: number): string {
  return `${applicationId}-${processId}-${thread}`;
}

/** Whether the id was made by `transactionalIdOf` for exactly this application: "a" does not own the ids of "a-b". */
export function belongsTo(applicationId: string, transactionalId: string): boolean {
  return transactionalId.startsWith(`${applicationId}-`) && processAndThread.test(transactionalId.slice(applicationId.length + 1));
}

const processAndThread = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-(?:0|[1-9][0-9]*)$/;

/** What the request asks for is never used: no transaction is begun with the identity it returns. */
const TRANSACTION_TIMEOUT_MS = 10_000;

async function openTransactions({ port, applicationId, logger }: FenceDeadOwnersOptions): Promise<readonly string[]> {
  try {
    return (await port.listOpenTransactions(`${applicationId}-`)) ?? [];
  } catch (error) {
    if (!(error instanceof KafkaTransportError)) throw error;
    logger.debug({ err: error }, 'open transactions could not be listed');
    return [];
  }
}

async function membersAreCurrent({ refreshMembers, logger }: FenceDeadOwnersOptions): Promise<boolean> {
  try {
    await refreshMembers?.();
    return true;
  } catch (error) {
    if (!(error instanceof KafkaTransportError)) throw error;
    logger.debug({ err: error }, 'the members of the group could not be read');
    return false;
  }
}

function mayFence(id: string, { liveTransactionalIds, isStillCurrent, signal }: FenceDeadOwnersOptions): boolean {
  if (signal?.aborted === true || !isStillCurrent()) return false;
  const live = liveTransactionalIds();
  return live !== null && !live.has(id);
}

async function fence(transactionalId: string, options: FenceDeadOwnersOptions): Promise<boolean> {
  const { port, logger, signal, timeoutMs = 10_000 } = options;
  const deadline = performance.now() + timeoutMs;
  let refresh = false;
  for (let attempt = 1; ; attempt++) {
    let pauseMs = backoffMs(attempt, retryPause, Math.random);
    try {
      const broker = await port.findCoordinator('transaction', transactionalId, { refresh, signal });
      if (!mayFence(transactionalId, options)) return false;
      const { errorCode } = await port.initProducerId(broker, { transactionalId, transactionTimeoutMs: TRANSACTION_TIMEOUT_MS });
      const answer = classify('initProducerId', errorCode);
      if (answer === 'ok') return true;
      if (answer === 'concurrent') pauseMs = concurrentPauseMs(attempt);
      else if (answer !== 'retry' && answer !== 'refind' && answer !== 'refresh') {
        logger.warn({ transactionalId }, `a dead member’s transaction could not be aborted: ${describeCode(errorCode)}`);
        return false;
      }
      refresh = answer === 'refind';
    } catch (error) {
      if (!(error instanceof KafkaTransportError)) throw error;
      refresh = true;
    }
    if (!mayFence(transactionalId, options) || performance.now() + pauseMs > deadline) return false;
    await delay(pauseMs, signal);
  }
}
