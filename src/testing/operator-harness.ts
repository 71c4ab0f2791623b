/**
 * What harnesses share: one operator, or a few, over tasks that run in the test's hand; results, late records, timers and state can be looked at; and what it holds can be taken out and put
 * into another harness, of another parallelism (Flink's operator test harnesses).
 *
 * Below is a `TopologyTestDriver`, so the operator runs in tasks as it does in an app, with a commit after each push.
 */
import { shown } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';
import type { KStream } from '../dsl/kstream.js';
import { StreamsBuilder } from '../dsl/streams-builder.js';
import type { StateOf } from '../processors/broadcast/broadcast-processor.js';
import type { DropReason } from '../processors/operator.js';
import { OperatorList } from '../processors/operator-state/operator-list.js';
import type { AnyOperatorStateDescriptor, OperatorListStateDescriptor } from '../processors/operator-state/operator-state-descriptor.js';
import { KeyedStates } from '../processors/state/keyed-states.js';
import type { StateAddress } from '../processors/state/state-address.js';
import type { AnyStateDescriptor } from '../processors/state/state-descriptor.js';
import { StoreKeyedStateBackend, type KeyedStateStore } from '../processors/state/store-keyed-state-backend.js';
import { StoredTimers } from '../processors/timers/stored-timers.js';
import type { TimerKind } from '../processors/timers/timer-service.js';
import type { WatermarkExplanation } from '../runtime/watermark-explanation.js';
import type { Serde } from '../serdes/serde.js';
import type { TimestampedKeyValueStore } from '../stores/store.js';
import type { StoreNode, Topology } from '../topology/nodes.js';
import { HarnessInput, harnessValueSerde, PushedWatermark, pushedWatermarks } from './harness-input.js';
import type { RestoreStores } from './driver-tasks.js';
import {
  isKeyedState,
  partitionOf,
  pushedBefore,
  reachedBefore,
  restoreStores,
  snapshotStores,
  type HarnessSnapshot,
} from './harness-snapshot.js';
import { harnessAccess, TopologyTestDriver } from './topology-test-driver.js';

/** A record that came out. */
export interface HarnessRecord<K = unknown, V = unknown> {
  readonly key: K;
  readonly value: V;
  /** ms since the epoch. */
  readonly timestamp: number;
}

/** A timer that is set. */
export interface HarnessTimer {
  readonly kind: TimerKind;
  readonly key: unknown;
  /** ms since the epoch. */
  readonly time: number;
  /** The window it belongs to, as text; empty for timers of a processor. */
  readonly namespace: string;
}

/** What the operator under test gives: a `KStream`, or an object of them by name, such as `{ results, late }`. Looked at when the harness is made. */
export type HarnessOutputs = object;

/** A record of an output: of `O`, when it is a stream, or of its `results`. */
export type HarnessRecordOf<O> =
  O extends KStream<infer K, infer V>
    ? HarnessRecord<K, V>
    : O extends { readonly results: KStream<infer K, infer V> }
      ? HarnessRecord<K, V>
      : HarnessRecord;

/** Options of every harness. */
export interface HarnessOptions {
  /** Tasks that the keys are spread over: partitions of each input. Default 1. */
  readonly parallelism?: number;
  /** The clock at the start, ms since the epoch. Default: that of `from`, else 0. */
  readonly wallClock?: number;
  /** What another harness held: state, timers and watermarks. Default: nothing. */
  readonly from?: HarnessSnapshot;
}

/** An input, as the harness makes it. */
export interface HarnessSource {
  readonly topic: string;
  readonly keySerde: Serde<unknown>;
  readonly valueSerde: Serde<unknown>;
  /** ms of the clock; null: never idle. */
  readonly idleness: number | null;
}

type Streams = ReadonlyMap<string, KStream<unknown, unknown>>;

/** The output of an operator that gives one stream. */
const onlyOutput = 'results';

/** Made by `TestHarness` and `MultiInputTestHarness`. */
export abstract class OperatorHarness<O extends HarnessOutputs = HarnessOutputs> {
  protected readonly inputs: ReadonlyMap<string, HarnessInput<unknown, unknown>>;
  private readonly driver: TopologyTestDriver;
  private readonly topology: Topology;
  private readonly parallelism: number;
  private readonly taken = new Map<string, HarnessRecord[]>();
  private restoring: Promise<void> | null = null;

  /**
   * @param what the class, for messages
   * @param operator builds what is tested out of the inputs, by their names
   */
  protected constructor(
    private readonly what: string,
    sources: ReadonlyMap<string, HarnessSource>,
    operator: (streams: Streams) => O,
    private readonly options: HarnessOptions,
  ) {
    const { parallelism = 1, from } = options;
    if (!Number.isSafeInteger(parallelism) || parallelism < 1)
      throw this.wrong(`\`parallelism\` must be a whole number of at least 1, not ${shown(parallelism)}`);
    if (from !== undefined) this.checkSnapshot(from, sources);
    this.parallelism = parallelism;
    this.topology = this.build(sources, operator);
    const wallClock = options.wallClock ?? from?.wallClock ?? 0;
    const partitions = Object.fromEntries([...sources.values()].map(({ topic }) => [topic, parallelism]));
    this.driver = new TopologyTestDriver(this.topology, { partitions, wallClock });
    if (from !== undefined) {
      const restore: RestoreStores = (storeAt) => restoreStores(this.topology, parallelism, storeAt, from);
      harnessAccess.restoreWith(this.driver, restore, (id) => reachedBefore(from, parallelism, id));
    }
    const restored = (name: string): number[] => (from === undefined ? [] : pushedBefore(from, parallelism, name));
    this.inputs = new Map([...sources].map(([name, source]) => [name, this.inputOf(source, restored(name))]));
  }

  /** Moves the clock on by `ms` and fires what is due: processing-time timers, idleness, punctuations. */
  async advanceTime(ms: number): Promise<void> {
    await this.ready();
    await this.driver.advanceWallClock(ms);
  }

  /** ms since the epoch. */
  get wallClock(): number {
    return this.driver.wallClock;
  }

  /** ms; the lowest over inputs and partitions; a task may be ahead of it. -Infinity before the first of each. */
  get watermark(): number {
    return Math.min(...[...this.inputs.values()].map((input) => input.watermark));
  }

  /**
   * What holds the watermark of an operator back: which input of which task, and why.
   *
   * @param operator a node of the topology; default: all
   * @throws MILL_CONFIG_INVALID when there is no such node
   */
  async explainWatermark(operator?: string): Promise<WatermarkExplanation> {
    await this.ready();
    return this.driver.explainWatermark(operator);
  }

  /**
   * Takes the records that have come out since the last call, in their order.
   *
   * @throws MILL_CONFIG_INVALID when there are several outputs, and none is `results`
   */
  outputs(): HarnessRecordOf<O>[];
  /**
   * Those of one of several outputs.
   *
   * @throws MILL_CONFIG_INVALID when there is no such output
   */
  outputs<N extends keyof O & string>(name: N): HarnessRecordOf<O[N]>[];
  /** With types that you name; else they are unknown. */
  outputs<KR = unknown, VR = unknown>(name?: string): HarnessRecord<KR, VR>[];
  outputs<KR = unknown, VR = unknown>(name: string = onlyOutput): HarnessRecord<KR, VR>[] {
    const records = this.taken.get(name);
    if (records !== undefined) return records.splice(0) as HarnessRecord<KR, VR>[];
    throw this.wrong(`there is no output ${name}: there are ${[...this.taken.keys()].join(', ')}`);
  }

  /** Records that rules dropped since the start, by reason. */
  get dropped(): ReadonlyMap<DropReason, number> {
    return this.driver.droppedByReason;
  }

  /**
   * The timers that are set, by time.
   *
   * @param operator its name; default: the only one with state by key
   * @throws MILL_CONFIG_INVALID when there is none, or several and no name
   */
  async timers(operator?: string): Promise<HarnessTimer[]> {
    await this.ready();
    const { spec } = this.keyedStore(operator);
    const timers: HarnessTimer[] = [];
    for (let partition = 0; partition < this.parallelism; partition++) {
      const stored = await new StoredTimers(await this.driver.store<KeyedStateStore>(spec.name, partition), () => 0).load();
      for (const kind of ['event', 'processing'] as const) for (const timer of stored[kind]) timers.push({ kind, ...timer });
    }
    return timers.sort((a, b) => a.time - b.time);
  }

  /**
   * The state of a key, to look at or to set before a record.
   *
   * @param operator its name; default: the only one with state by key
   * @throws MILL_CONFIG_INVALID when there is none, or several and no name
   */
  async state<D extends AnyStateDescriptor>(descriptor: D, key: unknown, operator?: string): Promise<StateOf<D>> {
    await this.ready();
    const node = this.keyedStore(operator);
    const address: StateAddress = { state: descriptor.name, key, namespace: '' };
    const bytes = Buffer.from(node.spec.keySerde?.serialize(address) ?? []);
    const store = await this.driver.store<KeyedStateStore>(node.spec.name, partitionOf(node, bytes, this.parallelism));
    const backend = new StoreKeyedStateBackend(store, [descriptor], () => 0);
    backend.setCurrentKey(key);
    return new KeyedStates(backend, () => this.driver.wallClock).state(descriptor as never) as StateOf<D>;
  }

  /**
   * The list that each task has of an operator state, by partition, to look at.
   *
   * @param operator its name; default: the only one with an operator state of that name
   * @throws MILL_CONFIG_INVALID when there is none, or several and no name
   */
  async operatorState<V>(descriptor: OperatorListStateDescriptor<V>, operator?: string): Promise<V[][]> {
    await this.ready();
    const { name } = this.operatorStore(descriptor, operator).spec;
    const lists: V[][] = [];
    for (let partition = 0; partition < this.parallelism; partition++) {
      const store = await this.driver.store<TimestampedKeyValueStore<number, V>>(name, partition);
      lists.push(new OperatorList(descriptor, store, () => 0).get());
    }
    return lists;
  }

  /**
   * What the operator holds, for the option `from` of another harness: state, timers, watermark and clock.
   *
   * Over another parallelism state by key and tables are dealt out by key, each task gets the broadcast state, and operator state is dealt out by its `redistribution`; union lists are
   * united over the same parallelism too, as when Flink restores. Over the same parallelism each partition and task goes on at its watermark; over another each task begins at the lowest
   * that a task had reached, so that a record of a window which another task had closed makes that window again.
   *
   * @throws MILL_STATE_INVALID when the operator keeps a store that is not by key (windows of `windowedBy`, joins in stream time), or has a repartition topic with a
   * partition count of its own, and after a failure. The first call of the other harness throws it when its parallelism is another and rows can't be dealt out: those of your own `stores`
   */
  async snapshot(): Promise<HarnessSnapshot> {
    await this.ready();
    harnessAccess.mustGoOn(this.driver);
    const stores = await snapshotStores(this.topology, this.parallelism, (name, partition) => this.driver.store(name, partition));
    const inputs = new Map([...this.inputs].map(([name, { watermark }]) => [name, watermark]));
    const partitions = new Map([...this.inputs].map(([name, input]) => [name, input.partitions]));
    const reached = await harnessAccess.reached(this.driver);
    const { parallelism, watermark, wallClock } = this;
    return Object.freeze({ stores, parallelism, watermark, inputs, partitions, reached, wallClock });
  }

  /** Closes processors and stores. Called again, it does nothing. */
  async close(): Promise<void> {
    await this.driver.close();
  }

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  protected wrong(message: string): MillraceError {
    return new MillraceError('MILL_CONFIG_INVALID', `${this.what}: ${message}.`);
  }

  private inputOf({ topic, keySerde, valueSerde }: HarnessSource, watermarks: readonly number[]): HarnessInput<unknown, unknown> {
    const written = this.driver.inputTopic(topic, { keySerde, valueSerde: harnessValueSerde(valueSerde) });
    return new HarnessInput(written, this.parallelism, watermarks, () => this.ready());
  }

  private build(sources: ReadonlyMap<string, HarnessSource>, operator: (streams: Streams) => HarnessOutputs): Topology {
    const builder = new StreamsBuilder();
    const streams = new Map([...sources].map(([name, source]) => [name, recordsOf(builder, source)]));
    const given = operator(streams) as unknown;
    for (const [name, stream] of Object.entries(isStream(given) ? { [onlyOutput]: given } : (given ?? {}))) {
      if (!isStream(stream)) throw this.wrong(`the function must give a stream, or streams by name; ${name} is none`);
      const records: HarnessRecord[] = [];
      this.taken.set(name, records);
      stream.foreach((value, key, { timestamp }) => records.push({ key, value, timestamp }), { name: `harness-${name}` });
    }
    if (this.taken.size === 0) throw this.wrong('the function must give a stream, or streams by name');
    return builder.build();
  }

  private checkSnapshot(from: HarnessSnapshot, sources: ReadonlyMap<string, unknown>): void {
    const { stores, inputs, partitions, reached, parallelism } = from as Partial<HarnessSnapshot>;
    const marks = inputs instanceof Map && partitions instanceof Map && Array.isArray(reached);
    if (!(stores instanceof Map && marks && typeof parallelism === 'number'))
      throw this.wrong('`from` takes what `snapshot()` of another harness gave');
    for (const name of from.inputs.keys())
      if (!sources.has(name)) throw this.wrong(`the snapshot has input ${name}, and there is none here: ${[...sources.keys()].join(', ')}`);
  }

  /** The watermarks of the snapshot are there before anything else happens. Its state is, before the processors are made. */
  private async ready(): Promise<void> {
    const { from } = this.options;
    if (from === undefined) return;
    this.restoring ??= this.passWatermarks(from);
    await this.restoring;
  }

  private async passWatermarks(from: HarnessSnapshot): Promise<void> {
    for (const [name, input] of this.inputs)
      for (const [partition, time] of pushedBefore(from, this.parallelism, name).entries())
        if (time !== -Infinity) await input.passWatermark(time, partition);
  }

  private operatorStore({ name }: AnyOperatorStateDescriptor, operator?: string): StoreNode {
    const stores = [...this.topology.stores.values()].filter(({ spec }) => spec.rows === 'split' || spec.rows === 'union');
    const found = stores.filter(({ spec, processors }) =>
      operator === undefined
        ? spec.name.endsWith(`-operator-${name}`)
        : spec.name === `${operator}-operator-${name}` && processors.includes(operator),
    );
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    const names = stores.map(({ spec }) => spec.name).join(', ') || 'none';
    throw this.wrong(`name the operator whose state ${name} is meant; there are stores of operator states: ${names}`);
  }

  private keyedStore(operator?: string): StoreNode {
    const stores = [...this.topology.stores.values()].filter(isKeyedState);
    const found = operator === undefined ? stores : stores.filter(({ processors }) => processors.includes(operator));
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    const names = stores.flatMap(({ processors }) => processors).join(', ') || 'none';
    throw this.wrong(`name the operator whose state is meant; with state by key there are: ${names}`);
  }
}

/** The records of an input, without the watermarks between them. */
function recordsOf(builder: StreamsBuilder, { topic, keySerde, valueSerde, idleness }: HarnessSource): KStream<unknown, unknown> {
  return builder
    .stream(topic, { keySerde, valueSerde: harnessValueSerde(valueSerde), watermarks: pushedWatermarks(idleness) })
    .filter((value) => !(value instanceof PushedWatermark), { name: `${topic}-records` });
}

function isStream(given: unknown): given is KStream<unknown, unknown> {
  return typeof given === 'object' && given !== null && (given as { readonly kind?: unknown }).kind === 'stream';
}
