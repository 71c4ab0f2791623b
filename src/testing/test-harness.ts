/**
 * One operator, or a few, in the test's hand: records, watermarks and the clock go in one by one; results, late records, timers and state can be looked at; and what it holds can be
 * taken out and put into another one, of another parallelism (Flink's operator test harness).
 *
 * Below it is a `TopologyTestDriver`, so the operator runs in tasks as it does in an app, with a commit after each push.
 */
import { MillraceError } from '../errors.js';
import { anyObject, requireOptions, serde, wholeNumber, type ShapeOf } from '../errors/checked-options.js';
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
import { StreamsBuilder } from '../dsl/streams-builder.js';
import type { KStream } from '../dsl/kstream.js';
import type { Serde } from '../serdes/serde.js';
import type { TimestampedKeyValueStore } from '../stores/store.js';
import type { StoreNode, Topology } from '../topology/nodes.js';
import { harnessTopic, harnessValueSerde, PushedWatermark, pushedWatermarks } from './harness-input.js';
import { isKeyedState, partitionOf, restoreStores, snapshotStores, type HarnessSnapshot } from './harness-snapshot.js';
import type { RestoreStores } from './driver-tasks.js';
import type { TestInputTopic } from './test-input-topic.js';
import { TopologyTestDriver } from './topology-test-driver.js';

/** Options of a `TestHarness`. */
export interface TestHarnessOptions<K, V> {
  /** Of the input's keys, which are spread over the tasks by their bytes. */
  readonly keySerde: Serde<K>;
  /** Of the input's values. */
  readonly valueSerde: Serde<V>;
  /** Tasks that the keys are spread over. Default 1. */
  readonly parallelism?: number;
  /** The clock at the start, ms since the epoch. Default: that of `from`, else 0. */
  readonly wallClock?: number;
  /** What another harness held: state, timers and watermark. Default: nothing. */
  readonly from?: HarnessSnapshot;
}

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

/** The output of an operator that gives one stream. */
const onlyOutput = 'results';

/**
 * @example
 * const mean = (readings: KStream<string, number>) => readings.keyBy().window(tumblingEventTime({ size: 60_000 })).reduce((a, b) => a + b, { name: 'sum' });
 * await using harness = new TestHarness(mean, { keySerde: serdes.string, valueSerde: serdes.double });
 * await harness.push('a', 20, { timestamp: 12_000 });
 * await harness.pushWatermark(59_999);
 * harness.outputs();
 */
export class TestHarness<K, V> {
  private readonly driver: TopologyTestDriver;
  private readonly topology: Topology;
  private readonly input: TestInputTopic<K, V | PushedWatermark>;
  private readonly parallelism: number;
  private readonly taken = new Map<string, HarnessRecord[]>();
  private readonly pushed: number[];
  private restoring: Promise<void> | null = null;

  /**
   * @param operator builds what is tested out of the input
   * @throws MILL_CONFIG_INVALID for wrong options; what building a topology throws
   */
  constructor(
    operator: (input: KStream<K, V>) => HarnessOutputs,
    private readonly options: TestHarnessOptions<K, V>,
  ) {
    requireOptions('TestHarness', options, shape, 'MILL_CONFIG_INVALID');
    const { keySerde, valueSerde, parallelism = 1, from } = options;
    if (typeof operator !== 'function') throw wrong('takes a function that builds the operator out of its input');
    for (const [name, given] of Object.entries({ keySerde, valueSerde }))
      if ((given as unknown) === undefined) throw wrong(`needs \`${name}\``);
    if (!Number.isSafeInteger(parallelism) || parallelism < 1)
      throw wrong(`\`parallelism\` must be a whole number of at least 1, not ${parallelism}`);
    if (from !== undefined && !(from.stores instanceof Map && typeof from.parallelism === 'number'))
      throw wrong('`from` takes what `snapshot()` of another harness gave');
    this.parallelism = parallelism;
    this.pushed = Array.from({ length: parallelism }, () => -Infinity);
    this.topology = this.build(operator, keySerde, harnessValueSerde(valueSerde));
    const wallClock = options.wallClock ?? from?.wallClock ?? 0;
    const config = { partitions: { [harnessTopic]: parallelism }, wallClock };
    const restore: RestoreStores | null = from === undefined ? null : (storeAt) => restoreStores(this.topology, parallelism, storeAt, from);
    this.driver = new TopologyTestDriver(this.topology, config, restore);
    this.input = this.driver.inputTopic(harnessTopic, { keySerde, valueSerde: harnessValueSerde(valueSerde) });
  }

  /**
   * Processes one record, and what follows from it.
   *
   * @param options `timestamp`: default the clock
   * @throws what the operator throws
   */
  async push(key: K | null, value: V | null, options: { readonly timestamp?: number } = {}): Promise<void> {
    await this.ready();
    await this.input.pipe(key, value, options);
  }

  /**
   * Moves event time to `time`, ms since the epoch, and fires what is due. One that is not higher than the last does nothing.
   *
   * @param options `partition`: of the input, alone. Each task goes by that of its own partition; behind a repartition topic by the lowest of all. Default: all
   */
  async pushWatermark(time: number, options: { readonly partition?: number } = {}): Promise<void> {
    requireOptions('pushWatermark', options, { partition: wholeNumber }, 'MILL_CONFIG_INVALID');
    if (typeof time !== 'number' || Number.isNaN(time)) throw wrong(`pushWatermark takes milliseconds, not ${String(time)}`);
    await this.ready();
    await this.passWatermark(time, options.partition);
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

  /** ms; the lowest over the partitions; a task may be ahead of it. -Infinity before the first. */
  get watermark(): number {
    return Math.min(...this.pushed);
  }

  /**
   * Takes the records that have come out since the last call, in their order.
   *
   * @param name of one of several outputs; default: the only one
   * @throws MILL_CONFIG_INVALID when there is no such output
   */
  outputs<KR = unknown, VR = unknown>(name: string = onlyOutput): HarnessRecord<KR, VR>[] {
    const records = this.taken.get(name);
    if (records !== undefined) return records.splice(0) as HarnessRecord<KR, VR>[];
    throw wrong(`there is no output ${name}: there are ${[...this.taken.keys()].join(', ')}`);
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
   * united over the same parallelism too, as when Flink restores.
   *
   * @throws MILL_STATE_INVALID when the operator keeps a store that is not by key (windows of `windowedBy`, joins in stream time), or has a repartition topic with a
   * partition count of its own. The first call of the other harness throws it when its parallelism is another and rows can't be dealt out: those of your own `stores`
   */
  async snapshot(): Promise<HarnessSnapshot> {
    await this.ready();
    const stores = await snapshotStores(this.topology, this.parallelism, (name, partition) => this.driver.store(name, partition));
    return Object.freeze({ stores, parallelism: this.parallelism, watermark: this.watermark, wallClock: this.wallClock });
  }

  /** Closes processors and stores. Called again, it does nothing. */
  async close(): Promise<void> {
    await this.driver.close();
  }

  /** `close()`, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private build(operator: (input: KStream<K, V>) => HarnessOutputs, keySerde: Serde<K>, valueSerde: Serde<V | PushedWatermark>): Topology {
    const builder = new StreamsBuilder();
    const input = builder
      .stream<K, V | PushedWatermark>(harnessTopic, { keySerde, valueSerde, watermarks: pushedWatermarks })
      .filter((value): value is V & (V | PushedWatermark) => !(value instanceof PushedWatermark), { name: 'harness-records' });
    const given = operator(input) as unknown;
    for (const [name, stream] of Object.entries(isStream(given) ? { [onlyOutput]: given } : (given ?? {}))) {
      if (!isStream(stream)) throw wrong(`the function must give a stream, or streams by name; ${name} is none`);
      const records: HarnessRecord[] = [];
      this.taken.set(name, records);
      stream.foreach((value, key, { timestamp }) => records.push({ key, value, timestamp }), { name: `harness-${name}` });
    }
    if (this.taken.size === 0) throw wrong('the function must give a stream, or streams by name');
    return builder.build();
  }

  private async passWatermark(time: number, partition?: number): Promise<void> {
    const partitions = partition === undefined ? this.pushed.map((_, index) => index) : [partition];
    const value = new PushedWatermark(time);
    await this.input.pipeAll(partitions.map((index) => ({ key: null, value, partition: index, timestamp: 0 })));
    for (const index of partitions) this.pushed[index] = Math.max(time, this.pushed[index] ?? -Infinity);
  }

  /** The watermark of the snapshot is there before anything else happens. Its state is, before the processors are made. */
  private async ready(): Promise<void> {
    const { from } = this.options;
    if (from === undefined) return;
    this.restoring ??= from.watermark === -Infinity ? Promise.resolve() : this.passWatermark(from.watermark);
    await this.restoring;
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
    throw wrong(`name the operator whose state ${name} is meant; there are stores of operator states: ${names}`);
  }

  private keyedStore(operator?: string): StoreNode {
    const stores = [...this.topology.stores.values()].filter(isKeyedState);
    const found = operator === undefined ? stores : stores.filter(({ processors }) => processors.includes(operator));
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    const names = stores.flatMap(({ processors }) => processors).join(', ') || 'none';
    throw wrong(`name the operator whose state is meant; with state by key there are: ${names}`);
  }
}

const shape = {
  keySerde: serde,
  valueSerde: serde,
  parallelism: wholeNumber,
  wallClock: wholeNumber,
  from: anyObject,
} satisfies ShapeOf<TestHarnessOptions<unknown, unknown>>;

function isStream(given: unknown): given is KStream<unknown, unknown> {
  return typeof given === 'object' && given !== null && (given as { readonly kind?: unknown }).kind === 'stream';
}

function wrong(message: string): MillraceError {
  return new MillraceError('MILL_CONFIG_INVALID', `TestHarness: ${message}.`);
}
