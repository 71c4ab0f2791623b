import type { HostedTask, QueryHost } from '../../queries/query-host.js';
import type { GroupView } from '../../rebalance/group-view.js';
import type { CompiledSerde } from '../../serdes/serde.js';
import type { StoreSpec } from '../../stores/store.js';
import type { Topology } from '../../topology/nodes.js';
import type { EngineParts } from '../app-engine.js';

/** The app with all its threads as queries see it. */
export class ThreadsQueryHost implements QueryHost {
  readonly topology: Topology;

  constructor(
    private readonly parts: EngineParts,
    readonly processId: () => string | null,
  ) {
    this.topology = parts.topology;
  }

  serdes(store: StoreSpec): { readonly key: CompiledSerde<unknown>; readonly value: CompiledSerde<unknown> } {
    return this.parts.serdes.ofStore(store);
  }

  closedBecause(): string | null {
    return 'queries of an app with several threads are not supported in this version';
  }

  tasksOf(): readonly HostedTask[] {
    return [];
  }

  ownedPartitions(): readonly number[] {
    return [];
  }

  partitionCount(): number | null {
    return null;
  }

  globals(): null {
    return null;
  }

  groupView(): GroupView {
    return this.parts.groupView();
  }

  requestCommit(): void {
    // Nothing waits.
  }
}
