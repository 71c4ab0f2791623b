import { KafkaTransportError, MillraceError } from '../errors.js';
import { backoffMs, delay } from '../kafka/backoff.js';
import { errorName } from '../kafka/error-codes.js';
import type { CommittedOffset, KafkaPort, TopicPartition } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';

export interface CommittedOffsetsOptions {
  readonly port: KafkaPort;
  readonly groupId: string;
  /** Under exactly-once: wait while offsets are pending in an open transaction. */
  readonly requireStable: boolean;
  readonly logger: Logger;
  /** Called when offsets are pending, with the metadata of the offsets committed before; fences owners that are no longer in the group. */
  readonly fenceDeadOwners: (metadata: readonly (string | null)[], signal: AbortSignal) => Promise<unknown>;
  /** ms; default `performance.now` */
  readonly now?: () => number;
}

/** A wait for somebody's transaction is told of when it lasts so long, and again each time as long, ms. */
const tellEveryMs = 10_000;

/** Pauses between questions while offsets are pending in somebody's transaction, ms. */
const pendingPause = { initialMs: 10, maxMs: 200 };
const lostPause = { initialMs: 50, maxMs: 1000 };

/**
 * The committed offsets of partitions that were just taken over.
 *
 * Under exactly-once it answers only with offsets that no open transaction can still change (`require_stable`, KIP-447); a dead owner's transaction is
 * fenced rather than waited for.
 */
export async function fetchCommittedOffsets(
  options: CommittedOffsetsOptions,
  partitions: readonly TopicPartition[],
  signal: AbortSignal,
): Promise<readonly CommittedOffset[]> {
  if (partitions.length === 0) return [];
  const now = options.now ?? (() => performance.now());
  const askedAt = now();
  let toldAt = askedAt;
  let refresh = false;
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    const answer = await askOnce(options, partitions, refresh, signal);
    refresh = false;
    if (answer === 'lost' || answer.errorCode !== 0) {
      const code = answer === 'lost' ? null : answer.errorCode;
      if (code !== null && !coordinatorMoves.has(code)) throw refused(options.groupId, code);
      refresh = true;
      await delay(backoffMs(attempt + 1, lostPause, Math.random), signal);
      continue;
    }
    const failed = answer.offsets.find(({ errorCode }) => errorCode !== 0 && errorCode !== unstable);
    if (failed !== undefined) throw refused(options.groupId, failed.errorCode);
    if (answer.offsets.every(({ errorCode }) => errorCode === 0)) return answer.offsets;
    if (now() - toldAt >= tellEveryMs) {
      toldAt = now();
      const pending = answer.offsets
        .filter(({ errorCode }) => errorCode === unstable)
        .map(({ topic, partition }) => `${topic}-${partition}`);
      const open = await openTransactions(options);
      options.logger.warn(
        { groupId: options.groupId, partitions: pending, waitedMs: Math.round(toldAt - askedAt), openTransactions: open },
        open?.length === 0
          ? 'committed offsets are held back although no transaction of this application is open: the broker has lost the end of one, which only an operator can mend'
          : 'committed offsets are held back by an open transaction; the task starts when it has ended',
      );
    }
    const last = await askOnce({ ...options, requireStable: false }, partitions, false, signal);
    await options.fenceDeadOwners(last === 'lost' ? [] : last.offsets.map(({ metadata }) => metadata), signal);
    await delay(backoffMs(attempt + 1, pendingPause, Math.random), signal);
  }
}

/** UNSTABLE_OFFSET_COMMIT. */
const unstable = 88;
/** COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR. */
const coordinatorMoves: ReadonlySet<number> = new Set([14, 15, 16]);

async function askOnce(options: CommittedOffsetsOptions, partitions: readonly TopicPartition[], refresh: boolean, signal: AbortSignal) {
  const { port, groupId, requireStable } = options;
  try {
    const broker = await port.findCoordinator('group', groupId, { refresh, signal });
    return await port.offsetFetch(broker, { groupId, partitions, requireStable });
  } catch (error) {
    if (error instanceof KafkaTransportError) return 'lost' as const;
    throw error;
  }
}

/** Null: not known. */
async function openTransactions({ port, groupId }: CommittedOffsetsOptions): Promise<readonly string[] | null> {
  try {
    return await port.listOpenTransactions(`${groupId}-`);
  } catch (error) {
    if (error instanceof KafkaTransportError) return null;
    throw error;
  }
}

function refused(groupId: string, errorCode: number): MillraceError {
  return new MillraceError('MILL_BROKER_ERROR', `can’t read the committed offsets of group ${groupId}: ${errorName(errorCode)}`, {
    details: { groupId, brokerErrorCode: errorCode },
  });
}
