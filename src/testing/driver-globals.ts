/** The driver's global tables: each record of their topics is applied at once, in memory. */
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import { GlobalTable } from '../runtime/global-table.js';
import type { TaskEnvironment } from '../runtime/task-environment.js';
import type { SerdeDefaults } from '../runtime/serde-defaults.js';
import type { StateStore } from '../stores/store.js';
import { TaskState } from '../stores/task-state.js';
import type { Topology } from '../topology/nodes.js';

export class DriverGlobals {
  private epoch = 0;
  private readonly tables: readonly { readonly topic: string; readonly table: GlobalTable }[];

  private constructor(
    private readonly topology: Topology,
    readonly state: TaskState,
    env: TaskEnvironment,
  ) {
    this.tables = [...topology.globalStores.values()].map((node) => ({
      topic: node.topic,
      table: new GlobalTable(node, (name) => this.store(name), env),
    }));
  }

  static async open(topology: Topology, serdes: SerdeDefaults, env: TaskEnvironment): Promise<DriverGlobals> {
    const state = await TaskState.open({
      taskId: 'global',
      directory: null,
      specs: [...topology.globalStores.values()].map(({ spec }) => ({ ...spec, engine: 'memory' as const })),
      defaultEngine: 'memory',
      serdes: (spec) => serdes.ofStore(spec),
      cacheBytes: 0,
      logger: env.logger,
    });
    return new DriverGlobals(topology, state, env);
  }

  store(name: string): StateStore | undefined {
    return this.topology.globalStores.has(name) ? this.state.store(name) : undefined;
  }

  async apply(chunk: FetchedChunk): Promise<void> {
    for (const { topic, table } of this.tables) if (topic === chunk.topic) await table.apply(chunk);
    this.epoch++;
    this.state.freeze(this.epoch, { append: () => undefined });
    this.state.committed(this.epoch, new Map());
  }

  async close(): Promise<void> {
    for (const { table } of this.tables) await table.close();
    await this.state.close({ clean: true });
  }
}
