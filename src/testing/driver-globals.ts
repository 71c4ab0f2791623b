/** The driver's global tables: each record of their topics is applied at once, in memory. */
import { RecordCursor } from '../kafka/record-batch/record-cursor.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import type { Logger } from '../observability/logger.js';
import type { SerdeDefaults } from '../runtime/serde-defaults.js';
import type { StateStore, TimestampedKeyValueStore } from '../stores/store.js';
import { TaskState } from '../stores/task-state.js';
import type { GlobalStoreNode, Topology } from '../topology/nodes.js';

export class DriverGlobals {
  /** Records without a key. */
  dropped = 0;
  private epoch = 0;

  private constructor(
    private readonly topology: Topology,
    private readonly serdes: SerdeDefaults,
    readonly state: TaskState,
  ) {}

  static async open(topology: Topology, serdes: SerdeDefaults, logger: Logger): Promise<DriverGlobals> {
    const state = await TaskState.open({
      taskId: 'global',
      directory: null,
      specs: [...topology.globalStores.values()].map(({ spec }) => ({ ...spec, engine: 'memory' as const })),
      defaultEngine: 'memory',
      serdes: (spec) => serdes.ofStore(spec),
      cacheBytes: 0,
      logger,
    });
    return new DriverGlobals(topology, serdes, state);
  }

  store(name: string): StateStore | undefined {
    return this.topology.globalStores.has(name) ? this.state.store(name) : undefined;
  }

  async apply(chunk: FetchedChunk): Promise<void> {
    for (const node of this.topology.globalStores.values()) if (node.topic === chunk.topic) await this.applyTo(node, chunk);
    this.epoch++;
    this.state.freeze(this.epoch, { append: () => undefined });
    this.state.committed(this.epoch, new Map());
  }

  async close(): Promise<void> {
    await this.state.close({ clean: true });
  }

  private async applyTo({ source, spec }: GlobalStoreNode, chunk: FetchedChunk): Promise<void> {
    const keySerde = this.serdes.compiled(source.keySerde, source.name, 'key');
    const valueSerde = this.serdes.compiled(source.valueSerde, source.name, 'value');
    const store = this.state.store(spec.name) as TimestampedKeyValueStore<unknown, unknown>;
    const cursor = new RecordCursor();
    cursor.open(chunk.records, { ...chunk, isolation: 'read_uncommitted' });
    while (cursor.next()) {
      if (cursor.keyStart < 0) {
        this.dropped++;
        continue;
      }
      const key = await keySerde.decode(cursor.buffer, cursor.keyStart, cursor.keyEnd);
      const value = cursor.valueStart < 0 ? null : await valueSerde.decode(cursor.buffer, cursor.valueStart, cursor.valueEnd);
      store.put(key, value, cursor.timestamp);
    }
  }
}
