import { MillraceError } from '../errors.js';
import type { KafkaPort, TopicPartition } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import type { TaskState } from '../stores/task-state.js';

export interface ChangelogToRestore extends TopicPartition {
  readonly store: string;
  readonly topicId: string | null;
  /** True when the topic is one that the task reads: never written, and restored up to `upTo` only. Default false. */
  readonly isSourceTopic?: boolean;
  /** The task's next offset in its source topic: what lies behind it is input still, and not yet part of the store. Default: no limit. */
  readonly upTo?: number;
}

/** First offset of a changelog partition, and where a restore ends: the high watermark, or the input's position in a source topic. */
export interface ChangelogBounds {
  readonly start: number;
  readonly end: number;
}

/** In the order of `changelogs`. Errors: MILL_BROKER_ERROR, MILL_TRANSPORT. */
export async function readChangelogBounds(
  port: Pick<KafkaPort, 'listOffsets'>,
  changelogs: readonly (TopicPartition & Pick<ChangelogToRestore, 'upTo'>)[],
): Promise<ChangelogBounds[]> {
  const [starts, ends] = await Promise.all([readOffsets(port, changelogs, 'earliest'), readChangelogEnds(port, changelogs)]);
  return changelogs.map(({ topic, partition, upTo = Infinity }) => {
    const key = `${topic}-${partition}`;
    const start = starts.get(key) ?? 0;
    return { start, end: Math.max(start, Math.min(ends.get(key) ?? 0, upTo)) };
  });
}

/** High watermarks by `topic-partition`. Errors as above. */
export function readChangelogEnds(
  port: Pick<KafkaPort, 'listOffsets'>,
  changelogs: readonly TopicPartition[],
): Promise<ReadonlyMap<string, number>> {
  return readOffsets(port, changelogs, 'latest');
}

async function readOffsets(
  port: Pick<KafkaPort, 'listOffsets'>,
  changelogs: readonly TopicPartition[],
  at: 'earliest' | 'latest',
): Promise<ReadonlyMap<string, number>> {
  const answers = await port.listOffsets(
    changelogs.map(({ topic, partition }) => ({
      topic,
      partition,
      at,
      ...(at === 'latest' && { isolation: 'read_uncommitted' as const }),
    })),
  );
  const offsets = new Map<string, number>();
  for (const { topic, partition, errorCode, offset } of answers) if (errorCode === 0) offsets.set(`${topic}-${partition}`, offset);
  for (const { topic, partition } of changelogs) {
    if (offsets.has(`${topic}-${partition}`)) continue;
    const errorCode = answers.find((answer) => answer.topic === topic && answer.partition === partition)?.errorCode;
    throw new MillraceError('MILL_BROKER_ERROR', `can’t read the offsets of ${topic}-${partition} (error ${errorCode ?? 'none'})`, {
      details: { topic, partition, brokerErrorCode: errorCode },
    });
  }
  return offsets;
}

/** Where a store goes on in its changelog; `whole`: its local content is of no use, and dropped. */
export interface StartingPoint {
  readonly from: number;
  readonly whole: boolean;
}

/** Prepares a store for changelog records: from where it stands when the changelog still has that offset, else from the beginning. */
export function beginStore(
  task: { readonly taskId: string; readonly state: TaskState },
  changelog: ChangelogToRestore,
  bounds: ChangelogBounds,
  environment: { readonly clusterId: string | null; readonly logger: Logger },
): StartingPoint {
  const { store, topic, partition, topicId } = changelog;
  const { state, taskId } = task;
  const known = state.position(store, { topic, topicId, clusterId: environment.clusterId });
  const tail = known !== null && known >= bounds.start && known <= bounds.end;
  if (known !== null && !tail) {
    environment.logger.warn(
      { taskId, store, topic, partition, position: known, ...bounds },
      `the changelog no longer holds offset ${known} of store ${store}: its local content is dropped and it is restored whole`,
    );
  }
  state.beginRestore(store, tail ? known : null);
  return { from: tail ? known : bounds.start, whole: !tail };
}
