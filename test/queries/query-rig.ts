/** One task's stores, written by the test and queried as an app's are. */
import { compileSerde } from '../../src/serdes/compile-serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { HostedTask, QueryHost } from '../../src/queries/query-host.js';
import type { Position } from '../../src/queries/position.js';
import { StoreQueries } from '../../src/queries/store-queries.js';
import { KeyValueView } from '../../src/queries/views/key-value-view.js';
import { SessionView } from '../../src/queries/views/session-view.js';
import type { ViewOptions } from '../../src/queries/views/store-view.js';
import { VersionedView } from '../../src/queries/views/versioned-view.js';
import { WindowView } from '../../src/queries/views/window-view.js';
import { emptyGroupView } from '../../src/rebalance/group-view.js';
import type { StateStore, StoreSpec } from '../../src/stores/store.js';
import type { TaskState } from '../../src/stores/task-state.js';
import type { Topology } from '../../src/topology/nodes.js';
import { Changelog, openState, temporaryDirectories } from '../stores/store-harness.js';

export const directories = temporaryDirectories();

export type Engine = 'memory' | 'leveldb';
export const engines = ['memory', 'leveldb'] as const;

export interface RigOptions {
  readonly engine: Engine;
  readonly spec: StoreSpec;
  readonly partitions?: number;
  /** Bytes; 1: everything that may leave memory does. */
  readonly cacheBytes?: number;
}

/** Partition `p` of the store `spec`, of a topology with that store alone. */
export class QueryRig {
  readonly tasks: RigTask[] = [];
  readonly queries: StoreQueries;
  commitsAsked = 0;
  count = 1;

  static async open(options: RigOptions): Promise<QueryRig> {
    const rig = new QueryRig(options.spec);
    rig.count = options.partitions ?? 1;
    for (let partition = 0; partition < rig.count; partition++) {
      const state = await openState({
        directory: options.engine === 'memory' ? null : await directories.make(),
        specs: [{ ...options.spec, engine: options.engine }],
        cacheBytes: options.cacheBytes ?? 1,
      });
      rig.tasks.push(new RigTask(partition, state, options.spec.name));
    }
    return rig;
  }

  private constructor(private readonly spec: StoreSpec) {
    this.queries = new StoreQueries(this.host);
  }

  get state(): TaskState {
    return this.task().state;
  }

  task(partition = 0): RigTask {
    return this.tasks.find((task) => task.partition === partition)!;
  }

  store<S extends StateStore>(partition = 0): S {
    return this.task(partition).state.store(this.spec.name) as S;
  }

  /** An epoch of all tasks: frozen, committed, written to the engine. */
  async commit(): Promise<void> {
    for (const task of this.tasks) task.freeze();
    for (const task of this.tasks) task.committed();
    await this.flush();
  }

  /** As `commit`; from now on the committed view follows, so that what a test writes next is open. */
  async commitAndFollow(): Promise<void> {
    await this.commit();
    await this.queries.readable(this.spec.name, {}, (tasks) => tasks);
  }

  async flush(): Promise<void> {
    for (const { state } of this.tasks) await state.flush();
  }

  keyValue<K = string, V = number>(options: ViewOptions<K> = {}): KeyValueView<K, V> {
    return new KeyValueView<K, V>(this.queries, this.spec.name, options);
  }

  windows<K = string, V = number>(options: ViewOptions<K> = {}): WindowView<K, V> {
    return new WindowView<K, V>(this.queries, this.spec.name, options);
  }

  sessions<K = string, V = number>(options: ViewOptions<K> = {}): SessionView<K, V> {
    return new SessionView<K, V>(this.queries, this.spec.name, options);
  }

  versions<K = string, V = number>(options: ViewOptions<K> = {}): VersionedView<K, V> {
    return new VersionedView<K, V>(this.queries, this.spec.name, options);
  }

  async close(): Promise<void> {
    for (const { state } of this.tasks) await state.close({ clean: false });
  }

  private get host(): QueryHost {
    const { spec } = this;
    return {
      topology: {
        stores: new Map([[spec.name, { spec, processors: [], sourceTopic: null }]]),
        globalStores: new Map(),
        subTopologies: [{ id: 0, nodes: [], sourceTopics: [], sourcePatterns: [], sinkTopics: [], stores: [spec.name] }],
      } as unknown as Topology,
      serdes: () => ({ key: compileSerde(spec.keySerde ?? serdes.string), value: compileSerde(spec.valueSerde ?? serdes.int32) }),
      closedBecause: () => null,
      tasksOf: () => this.tasks,
      ownedPartitions: () => this.tasks.map(({ partition }) => partition),
      partitionCount: () => this.count,
      globals: () => null,
      groupView: () => emptyGroupView,
      processId: () => null,
      requestCommit: () => {
        this.commitsAsked++;
      },
    };
  }
}

export class RigTask implements HostedTask {
  role: HostedTask['role'] = 'active';
  readonly changelog = new Changelog();
  private epoch = 0;
  private offset = 0;
  private frozen = 0;
  private visible = 0;

  constructor(
    readonly partition: number,
    readonly state: TaskState,
    private readonly name: string,
  ) {}

  get taskId(): string {
    return `0_${this.partition}`;
  }

  /** Counts as an input record. */
  processed(): void {
    this.offset++;
  }

  freeze(): void {
    this.state.freeze(++this.epoch, this.changelog);
    this.frozen = this.offset;
  }

  committed(): void {
    this.visible = this.frozen;
    this.state.committed(this.epoch, new Map([[this.name, this.changelog.end]]));
  }

  position(isolation: 'committed' | 'uncommitted'): Position {
    const next = isolation === 'committed' ? this.visible : this.offset;
    return next === 0 ? {} : { in: { [this.partition]: next - 1 } };
  }
}
