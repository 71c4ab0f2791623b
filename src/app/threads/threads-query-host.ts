import type { QueryInstance } from '../../queries/query-host.js';
import type { GroupView } from '../../rebalance/group-view.js';
import { parseTaskId } from '../../rebalance/task-id.js';
import type { CompiledSerde } from '../../serdes/serde.js';
import type { StoreSpec } from '../../stores/store.js';
import type { Topology } from '../../topology/nodes.js';
import type { EngineParts } from '../app-engine.js';
import { closedBecause } from '../app-query-host.js';
import type { ThreadReport } from './thread-protocol.js';

/** The instance with all its threads as queries see it: what the threads last told, and the last assignment of the group. */
export class ThreadsQueryHost implements QueryInstance {
  readonly topology: Topology;

  constructor(
    private readonly parts: EngineParts,
    private readonly reports: () => readonly ThreadReport[],
    readonly processId: () => string | null,
  ) {
    this.topology = parts.topology;
  }

  serdes(store: StoreSpec): { readonly key: CompiledSerde<unknown>; readonly value: CompiledSerde<unknown> } {
    return this.parts.serdes.ofStore(store);
  }

  closedBecause(): string | null {
    return closedBecause(this.parts.state());
  }

  ownedPartitions(subTopology: number): readonly number[] {
    const process = this.processId();
    const assigned = this.groupView().members.filter(({ processId }) => processId === process);
    const told = this.reports().flatMap(({ metrics }) => metrics.group?.ownedTasks ?? []);
    const owned = new Set<number>();
    for (const id of [...told, ...assigned.flatMap(({ activeTasks }) => activeTasks)]) {
      const task = parseTaskId(id);
      if (task.subTopology === subTopology) owned.add(task.partition);
    }
    return [...owned].sort((a, b) => a - b);
  }

  partitionCount(subTopology: number): number | null {
    const counts = this.reports().map(({ taskCounts }) => taskCounts[subTopology] ?? null);
    return counts.find((count) => count !== null) ?? null;
  }

  groupView(): GroupView {
    return this.parts.groupView();
  }
}
