/** What queries need of an app, or of a test driver: its stores, who owns what, and commits. */
import type { GroupView } from '../rebalance/group-view.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import type { TaskState } from '../stores/task-state.js';
import type { Topology } from '../topology/nodes.js';
import type { Position } from './position.js';

/** What a read sees: the last committed epoch, or the one in work. */
export type Isolation = 'committed' | 'uncommitted';

/** A task whose stores can be read here. */
export interface HostedTask {
  /** `<sub-topology>_<partition>`; `global` for the global stores. */
  readonly taskId: string;
  readonly partition: number;
  /** `catchingUp`: a copy of the state that follows its changelog, as a standby or before the task starts. */
  readonly role: 'active' | 'catchingUp';
  readonly state: TaskState;
  position(isolation: Isolation): Position;
}

/** An instance of the app, with all its threads, as queries see it. */
export interface QueryInstance {
  readonly topology: Topology;
  /** Those that the store uses. */
  serdes(store: StoreSpec): { readonly key: CompiledSerde<unknown>; readonly value: CompiledSerde<unknown> };
  /** Why nothing can be read now ("the app is not started"); null when it can. */
  closedBecause(): string | null;
  /** Partitions of the sub-topology that the group gave to this instance, running or not. */
  ownedPartitions(subTopology: number): readonly number[];
  /** Number of tasks of the sub-topology; null: not known yet. */
  partitionCount(subTopology: number): number | null;
  /** Who has what, by the group's last assignment. */
  groupView(): GroupView;
  /** Of this instance in the group; null: not known yet. */
  processId(): string | null;
}

/** One whose tasks are in this JavaScript thread. */
export interface QueryHost extends QueryInstance {
  /** Tasks of a sub-topology that are open here. */
  tasksOf(subTopology: number): readonly HostedTask[];
  /** The stores that every instance has whole; null when they are not there. */
  globals(): HostedTask | null;
  /** Commits soon instead of at the next commit interval. */
  requestCommit(): void;
}
