import { positionBefore } from '../queries/position.js';
import type { HostedTask, QueryHost } from '../queries/query-host.js';
import { emptyGroupView, type GroupView } from '../rebalance/group-view.js';
import type { ActiveTask } from '../runtime/active-task.js';
import type { SerdeDefaults } from '../runtime/serde-defaults.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import type { TaskState } from '../stores/task-state.js';
import type { SubTopology, Topology } from '../topology/nodes.js';

export interface DriverQueryHostParts {
  readonly topology: Topology;
  readonly serdes: SerdeDefaults;
  readonly tasks: readonly { readonly active: ActiveTask; readonly subTopology: SubTopology }[];
  readonly globals: TaskState;
  readonly isClosed: () => boolean;
  readonly requestCommit: () => void;
}

/** A test driver as queries see it: one instance that has everything. */
export class DriverQueryHost implements QueryHost {
  readonly topology: Topology;

  constructor(private readonly parts: DriverQueryHostParts) {
    this.topology = parts.topology;
  }

  serdes(store: StoreSpec): { readonly key: CompiledSerde<unknown>; readonly value: CompiledSerde<unknown> } {
    return this.parts.serdes.ofStore(store);
  }

  closedBecause(): string | null {
    return this.parts.isClosed() ? 'the test driver is closed' : null;
  }

  tasksOf(subTopology: number): readonly HostedTask[] {
    return this.activeOf(subTopology).map((active) => ({
      taskId: active.id,
      partition: active.task.partition,
      role: 'active',
      state: active.state,
      position: (isolation) => positionBefore(active.positionsOf(isolation)),
    }));
  }

  ownedPartitions(subTopology: number): readonly number[] {
    return this.activeOf(subTopology).map(({ task }) => task.partition);
  }

  partitionCount(subTopology: number): number {
    return this.activeOf(subTopology).length;
  }

  globals(): HostedTask {
    return { taskId: 'global', partition: 0, role: 'active', state: this.parts.globals, position: () => ({}) };
  }

  requestCommit(): void {
    this.parts.requestCommit();
  }

  groupView(): GroupView {
    return emptyGroupView;
  }

  processId(): string | null {
    return null;
  }

  private activeOf(subTopology: number): ActiveTask[] {
    return this.parts.tasks.flatMap(({ active, subTopology: sub }) => (sub.id === subTopology ? [active] : []));
  }
}
