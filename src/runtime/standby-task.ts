import type { TopicPartition } from '../kafka/port.js';
import type { TaskState } from '../stores/task-state.js';
import { ChangelogApplier } from './changelog-applier.js';
import type { ChangelogToRestore, StartingPoint } from './changelog-bounds.js';
import type { StandbyProgress } from './standby-listener.js';
import type { OpenedState } from './state-opener.js';
import type { TaskPlan } from './task-plan.js';

/** One store of a standby and how far it follows its changelog. */
export class StandbyStore {
  readonly applier: ChangelogApplier;
  /** Next changelog offset; what is before is in the store. */
  position: number;

  constructor(
    private readonly taskId: string,
    state: TaskState,
    readonly changelog: ChangelogToRestore,
    isolation: 'read_committed' | 'read_uncommitted',
    private readonly start: StartingPoint,
    /** High watermark of the changelog as last seen. */
    private readonly endOffset: () => number,
  ) {
    this.applier = new ChangelogApplier(state, changelog, isolation, start.from);
    this.position = start.from;
  }

  isOf({ topic, partition }: TopicPartition): boolean {
    return topic === this.changelog.topic && partition === this.changelog.partition;
  }

  /** Records behind the end of the changelog; offsets of transaction markers count. */
  get lag(): number {
    return Math.max(0, this.endOffset() - this.position);
  }

  progress(batchRecords = 0): StandbyProgress {
    const { store, topic, partition } = this.changelog;
    return {
      taskId: this.taskId,
      store,
      topic,
      partition,
      startOffset: this.start.from,
      position: this.position,
      endOffset: Math.max(this.endOffset(), this.position),
      lag: this.lag,
      batchRecords,
      recordsApplied: this.applier.records,
    };
  }
}

/**
 * A copy of a task's state that follows the changelogs of the instance that runs the task: the task can be taken over with hardly anything to restore.
 *
 * Its stores may be read (`state.store(name)`): they are at committed epochs, somewhat behind the running task, and different stores may be at
 * different ones.
 */
export class StandbyTask {
  constructor(
    readonly plan: TaskPlan,
    readonly opened: OpenedState,
    readonly stores: readonly StandbyStore[],
  ) {}

  get id(): string {
    return this.plan.id;
  }

  get state(): TaskState {
    return this.opened.state;
  }

  /** Over all stores. */
  get lag(): number {
    let lag = 0;
    for (const store of this.stores) lag += store.lag;
    return lag;
  }

  /** Stores without anything to catch up with are as of now, however long ago their last record was. */
  noteCurrent(): void {
    for (const store of this.stores) if (store.lag === 0) this.state.noteCurrent(store.changelog.store);
  }
}
