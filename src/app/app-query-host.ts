import type { HostedTask, Isolation, QueryHost } from '../queries/query-host.js';
import { positionBefore } from '../queries/position.js';
import type { GroupView } from '../rebalance/group-view.js';
import { parseTaskId } from '../rebalance/task-id.js';
import type { GlobalTables } from '../runtime/global-tables.js';
import type { SerdeDefaults } from '../runtime/serde-defaults.js';
import type { BuiltThread } from '../runtime/thread-factory.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import type { TaskState } from '../stores/task-state.js';
import type { Topology } from '../topology/nodes.js';
import type { StreamsState } from './streams-app.js';

export interface AppQueryHostParts {
  readonly topology: Topology;
  readonly serdes: SerdeDefaults;
  readonly state: () => StreamsState;
  readonly built: () => BuiltThread | null;
  readonly globals: () => GlobalTables | null;
  readonly groupView: () => GroupView;
  readonly processId: () => string | null;
}

/** The app as queries see it. */
export class AppQueryHost implements QueryHost {
  readonly topology: Topology;

  constructor(private readonly parts: AppQueryHostParts) {
    this.topology = parts.topology;
  }

  serdes(store: StoreSpec): { readonly key: CompiledSerde<unknown>; readonly value: CompiledSerde<unknown> } {
    return this.parts.serdes.ofStore(store);
  }

  closedBecause(): string | null {
    return closedBecause(this.parts.state());
  }

  tasksOf(subTopology: number): readonly HostedTask[] {
    const built = this.parts.built();
    if (built === null) return [];
    const hosted: HostedTask[] = [];
    for (const active of built.thread.tasks.values()) {
      const task = parseTaskId(active.id);
      if (task.subTopology !== subTopology) continue;
      hosted.push({
        taskId: active.id,
        partition: task.partition,
        role: 'active',
        state: active.state,
        position: (isolation: Isolation) => positionBefore(active.positionsOf(isolation)),
      });
    }
    const copies = new Map([...built.standbys.tasks].map(([id, { state }]) => [id, state]));
    for (const [id, state] of built.restoring) copies.set(id, state);
    for (const [id, state] of copies) {
      const task = parseTaskId(id);
      if (task.subTopology === subTopology && !built.thread.tasks.has(id)) hosted.push(catchingUp(id, task.partition, state));
    }
    return hosted.sort((a, b) => a.partition - b.partition);
  }

  ownedPartitions(subTopology: number): readonly number[] {
    const owned = [...(this.parts.built()?.thread.owned ?? [])].map(parseTaskId);
    return owned.flatMap((task) => (task.subTopology === subTopology ? [task.partition] : [])).sort((a, b) => a - b);
  }

  partitionCount(subTopology: number): number | null {
    return this.parts.built()?.taskCount(subTopology) ?? null;
  }

  globals(): HostedTask | null {
    const globals = this.parts.globals();
    const state = globals?.tables ?? null;
    if (globals === null || state === null || !globals.isCaughtUp) return null;
    return { taskId: 'global', partition: 0, role: 'active', state, position: () => positionBefore(globals.positions()) };
  }

  groupView(): GroupView {
    return this.parts.groupView();
  }

  processId(): string | null {
    return this.parts.processId();
  }

  requestCommit(): void {
    const built = this.parts.built();
    built?.epochs.requestCommit();
    built?.thread.nudge();
  }
}

/** Why an app in this state has no stores to read; null when it has. */
export function closedBecause(state: StreamsState): string | null {
  if (state === 'running' || state === 'rebalancing') return null;
  return state === 'created' ? 'the app is not started' : `the app is ${state}`;
}

/** Its input position is not known: what it holds came from its changelog. */
function catchingUp(taskId: string, partition: number, state: TaskState): HostedTask {
  return { taskId, partition, role: 'catchingUp', state, position: () => ({}) };
}
