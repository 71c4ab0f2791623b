import type { CommittedOffset, TopicPartition } from '../kafka/port.js';
import { TimeShares } from '../observability/time-shares.js';
import type { TaskState } from '../stores/task-state.js';
import type { UpstreamMark } from '../time/watermarks/source-watermarks.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import { ChangelogWriter } from './changelog-writer.js';
import type { Task } from './task.js';
import type { OutputCollector } from './task-environment.js';

/** What is committed with a task's part of an epoch. */
export interface TaskBarrier {
  readonly offsets: readonly Omit<CommittedOffset, 'metadata'>[];
  readonly partitionTimes: readonly number[];
  /** Ids of the topics that the offsets are positions in; null where they are not known. */
  readonly topicIds: readonly (string | null)[];
  /** For each offset: what upstream tasks have told through the partition; null when none does. */
  readonly marks: readonly (ReadonlyMap<string, UpstreamMark> | null)[];
  /** Event time of the task, -Infinity when there is none. */
  readonly watermark: number;
  /** How the task has ended its input; null when it has not. */
  readonly ended: InputEnd | null;
  /** In batch mode, until the task has told its final results. */
  readonly holdsResults: boolean;
}

/** Where a store's changes go, or, for a source topic, come from. */
export interface TaskChangelog {
  readonly store: string;
  readonly topic: string;
  readonly isSourceTopic?: boolean;
}

/**
 * A task that runs on this thread, with its state: what the epoch asks of it at a barrier and after.
 */
export class ActiveTask {
  /** True while the task is being given up: it takes no more records. */
  paused = false;
  /** Work of this task, its functions that are awaited included, and what holds it up; the rest is idle, also while other tasks of the thread have their turns. */
  readonly timeShares = new TimeShares(performance.now(), 'idle');
  /** Input positions of the last committed epoch; empty before the first. */
  committedPositions: readonly (TopicPartition & { readonly offset: number })[] = [];
  private readonly startPositions: readonly (TopicPartition & { readonly offset: number })[];
  private frozenPositions: readonly (TopicPartition & { readonly offset: number })[] = [];
  private readonly changelog: ChangelogWriter;

  constructor(
    readonly id: string,
    readonly task: Task,
    readonly state: TaskState,
    /** Of the stores that have one. */
    private readonly changelogs: readonly TaskChangelog[],
    output: OutputCollector,
  ) {
    // Source topics have the records already.
    const written = changelogs.filter(({ isSourceTopic }) => isSourceTopic !== true);
    this.changelog = new ChangelogWriter(new Map(written.map(({ store, topic }) => [store, topic])), task.partition, output);
    this.startPositions = task.positions();
    // What `init` wrote is committed although no record may come, else readers of committed rows would wait for one. `StreamThread` tells the epoch.
    if (state.activeBytes > 0) task.dirty = true;
  }

  /** Input offsets to go on at: of the last committed epoch, or of what the state holds now. */
  positionsOf(isolation: 'committed' | 'uncommitted'): readonly (TopicPartition & { readonly offset: number })[] {
    if (isolation === 'uncommitted') return this.task.positions();
    return this.committedPositions.length > 0 ? this.committedPositions : this.startPositions;
  }

  /** Bytes of dirty state. */
  get activeBytes(): number {
    return this.state.activeBytes;
  }

  /** Step 3 of a barrier, after the operators were flushed: changelog records for what is dirty, and the offsets to commit. */
  freeze(epoch: number): TaskBarrier {
    this.state.freeze(epoch, this.changelog);
    this.task.endEpoch();
    const positions = this.task.positions();
    this.frozenPositions = positions;
    return {
      offsets: positions.map(({ topic, partition, offset }) => ({ topic, partition, offset, leaderEpoch: -1 })),
      partitionTimes: positions.map(({ partitionTime }) => partitionTime),
      topicIds: positions.map(({ topicId }) => topicId),
      marks: positions.map(({ marks }) => marks),
      watermark: this.task.watermark(),
      ended: this.task.ended,
      holdsResults: this.task.holdsResults,
    };
  }

  /** Step 6. `nextOffsets` is keyed by `topic-partition`. A store whose changelog is a source topic stands where the input was at the barrier. */
  committed(epoch: number, nextOffsets: ReadonlyMap<string, number>): void {
    this.committedPositions = this.frozenPositions;
    const positions = new Map<string, number>();
    for (const { store, topic, isSourceTopic } of this.changelogs) {
      const next = isSourceTopic === true ? this.committedPosition(topic) : nextOffsets.get(`${topic}-${this.task.partition}`);
      if (next !== undefined) positions.set(store, next);
    }
    this.state.committed(epoch, positions);
  }

  private committedPosition(topic: string): number | undefined {
    return this.committedPositions.find((position) => position.topic === topic && position.partition === this.task.partition)?.offset;
  }

  async close(clean: boolean): Promise<void> {
    await this.task.close();
    await this.state.close({ clean });
  }
}
