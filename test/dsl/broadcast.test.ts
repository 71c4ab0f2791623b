/** Broadcast streams: every record reaches every task of what they are connected to, and is part of that task's epochs. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { BroadcastStream } from '../../src/dsl/broadcast-stream.js';
import type { KStream } from '../../src/dsl/kstream.js';
import type {
  BroadcastProcessor,
  BroadcastProcessorContext,
  KeyedBroadcastAccess,
  KeyedBroadcastProcessor,
  KeyedBroadcastProcessorContext,
} from '../../src/processors/broadcast/broadcast-processor.js';
import type { ReadonlyBroadcastState } from '../../src/processors/broadcast/broadcast-state.js';
import type { FiredTimer } from '../../src/processors/event-time/keyed-processor.js';
import type { Record } from '../../src/processors/processor.js';
import { mapState, valueState } from '../../src/processors/state/state-descriptor.js';
import type { ValueState } from '../../src/processors/state/keyed-state.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };
const rules = mapState<string, string>('rules', { keySerde: serdes.string, serde: serdes.string });
const seen = valueState<number>('seen', { serde: serdes.double });

type Broadcast = KeyedBroadcastAccess<string>;

/** Says of each record which rules it met; a rule `!forget` clears the counts of all keys. */
class Checker implements KeyedBroadcastProcessor<string, string, string, string | null, string, string> {
  declare protected context: KeyedBroadcastProcessorContext<string, string, string>;
  declare protected rules: ReadonlyBroadcastState<string, string>;
  declare protected seen: ValueState<number>;

  init(context: KeyedBroadcastProcessorContext<string, string, string>): void {
    this.context = context;
    this.rules = context.broadcastState(rules);
    this.seen = context.state(seen);
  }

  process({ key, value }: Record<string, string>): void | Promise<void> {
    const count = (this.seen.value() ?? 0) + 1;
    this.seen.update(count);
    const met = this.rules.entries().map(([name, rule]) => `${name}=${rule}`);
    return this.context.forward({ key, value: `${value} ${count} [${met.join(' ')}]` });
  }

  processBroadcast({ key, value }: Record<string, string | null>, broadcast: Broadcast): void | Promise<void> {
    if (value !== '!forget') {
      broadcast.state(rules).put(key, value);
      return;
    }
    return broadcast.applyToKeyedState(seen, (_key, count) => {
      count.clear();
    });
  }
}

function rulesOf(builder: StreamsBuilder): BroadcastStream<string, string | null> {
  return builder.stream<string, string | null>('rules', texts).broadcast({ name: 'rules', states: [rules] });
}

function dataOf(builder: StreamsBuilder): KStream<string, string> {
  return builder.stream('data', texts);
}

interface Running extends AsyncDisposable {
  readonly rule: (key: string | null, value: string | null) => Promise<void>;
  readonly data: (key: string, value: string, partition?: number, timestamp?: number) => Promise<void>;
  readonly results: () => string[];
  readonly driver: TopologyTestDriver;
}

function running(builder: StreamsBuilder, partitions = 3): Running {
  const driver = new TopologyTestDriver(builder.build(), { partitions: { data: partitions, rules: 2 } });
  const [rulesIn, dataIn] = [driver.inputTopic('rules', texts), driver.inputTopic('data', texts)];
  const out = driver.outputTopic('out', texts);
  return {
    rule: (key, value) => rulesIn.pipe(key, value),
    data: (key, value, partition, timestamp) =>
      dataIn.pipe(key, value, { ...(partition === undefined ? {} : { partition }), ...(timestamp === undefined ? {} : { timestamp }) }),
    results: () => out.readAll().map(({ key, value }) => `${String(key)} ${String(value)}`),
    driver,
    [Symbol.asyncDispose]: () => driver.close(),
  };
}

function checked(
  supplier: () => KeyedBroadcastProcessor<string, string, string, string | null, string, string> = () => new Checker(),
): Running {
  const builder = new StreamsBuilder();
  dataOf(builder)
    .keyBy()
    .connect(rulesOf(builder))
    .process(supplier, { name: 'check', states: [seen], ...texts })
    .to('out');
  return running(builder);
}

describe('a broadcast stream connected to a keyed one', () => {
  it('brings every record to every task, whatever the key', async () => {
    await using run = checked();
    await run.rule('limit', '10');
    await run.rule('size', 'big');
    for (const partition of [0, 1, 2]) await run.data(`k${partition}`, 'v', partition);
    expect(run.results()).toEqual(['k0 v 1 [limit=10 size=big]', 'k1 v 1 [limit=10 size=big]', 'k2 v 1 [limit=10 size=big]']);
  });

  it('takes updates and removals, and counts on under the key', async () => {
    await using run = checked();
    await run.data('a', 'v');
    await run.rule('limit', '10');
    await run.data('a', 'v');
    await run.rule('limit', '20');
    await run.data('a', 'v');
    await run.rule('limit', null);
    await run.data('a', 'v');
    expect(run.results()).toEqual(['a v 1 []', 'a v 2 [limit=10]', 'a v 3 [limit=20]', 'a v 4 []']);
  });

  it('may go through the state of all keys of a task', async () => {
    await using run = checked();
    for (const key of ['a', 'b', 'c', 'd', 'e']) await run.data(key, 'v');
    await run.rule('all', '!forget');
    for (const key of ['a', 'b', 'c', 'd', 'e']) await run.data(key, 'w');
    expect(run.results().slice(5).sort()).toEqual(['a w 1 []', 'b w 1 []', 'c w 1 []', 'd w 1 []', 'e w 1 []']);
  });

  it('finishes what goes through all keys before the record is done, also when nobody waits for it', async () => {
    class Careless extends Checker {
      override processBroadcast(record: Record<string, string | null>, broadcast: Broadcast): void {
        void super.processBroadcast(record, broadcast);
      }
    }
    await using run = checked(() => new Careless());
    await run.data('a', 'v');
    await run.rule('all', '!forget');
    await run.data('a', 'w');
    expect(run.results()).toEqual(['a v 1 []', 'a w 1 []']);
  });

  it('gives each task a store of it, logged, of all entries', async () => {
    await using run = checked();
    await run.rule('limit', '10');
    for (const partition of [0, 1, 2]) {
      const store = await run.driver.store<TimestampedKeyValueStore<string, string>>('check-broadcast-rules', partition);
      expect(store.get('limit')).toBe('10');
    }
    const log = run.driver.outputTopic('test-check-broadcast-rules-changelog', texts).readAll();
    expect(log.map(({ key, value, partition }) => [key, value, partition])).toEqual([
      ['limit', '10', 0],
      ['limit', '10', 1],
      ['limit', '10', 2],
    ]);
  });

  it('starts with what its store holds, timers included', async () => {
    class Ticking extends Checker {
      override init(context: KeyedBroadcastProcessorContext<string, string, string>): void {
        super.init(context);
        context.schedule({ time: 'wallClock', interval: 1_000 }, () =>
          context.forward({ key: 'tick', value: String(this.rules.get('limit')) }),
        );
      }
    }
    await using run = checked(() => new Ticking());
    for (const partition of [0, 1, 2]) {
      const store = await run.driver.store<TimestampedKeyValueStore<string, string>>('check-broadcast-rules', partition);
      store.put('limit', '7', 0);
    }
    await run.driver.advanceWallClock(1_000);
    await run.data('a', 'v');
    expect(run.results()).toEqual(['tick 7', 'tick 7', 'tick 7', 'a v 1 [limit=7]']);
  });

  it('takes broadcast records without a key', async () => {
    const numbers = mapState<string, number>('numbers', { serde: serdes.double });
    const builder = new StreamsBuilder();
    const broadcast = builder.stream<string | null, string>('rules', texts).broadcast({ name: 'count', states: [numbers] });
    class Counted implements BroadcastProcessor<string, string, string | null, string, string, string> {
      declare private context: BroadcastProcessorContext<string, string>;
      init(context: BroadcastProcessorContext<string, string>): void {
        this.context = context;
      }
      process({ key }: Record<string, string>): void | Promise<void> {
        return this.context.forward({ key, value: String(this.context.broadcastState(numbers).get('n')) });
      }
      processBroadcast(
        record: Record<string | null, string>,
        access: Parameters<BroadcastProcessor<string, string, string, string>['processBroadcast']>[1],
      ): void {
        expect(record.key).toBeNull();
        const state = access.state(numbers);
        state.put('n', (state.get('n') ?? 0) + 1);
      }
    }
    dataOf(builder)
      .connect(broadcast)
      .process(() => new Counted(), { name: 'counted', ...texts })
      .to('out');
    await using run = running(builder);
    await run.rule(null, 'x');
    await run.rule(null, 'y');
    await run.data('a', 'v', 0);
    await run.data('b', 'v', 2);
    expect(run.results()).toEqual(['a 2', 'b 2']);
  });

  it('a broadcast record without a key, put as it is, fails like any other: the handler may skip it, and is told the state', async () => {
    const builder = new StreamsBuilder();
    dataOf(builder)
      .keyBy()
      .connect(rulesOf(builder))
      .process(() => new Checker(), { name: 'check', states: [seen], ...texts })
      .to('out');
    const told: string[] = [];
    await using driver = new TopologyTestDriver(builder.build(), {
      partitions: { data: 1, rules: 1 },
      processingHandler: ({ name, message }, { node }) => {
        told.push(`${node} ${name}: ${message}`);
        return 'continue';
      },
    });
    const rule = driver.inputTopic('rules', texts);
    await rule.pipe(null, 'lost');
    await rule.pipe(null, null);
    await rule.pipe('limit', '5');
    await driver.inputTopic('data', texts).pipe('a', 'v');
    expect(told).toEqual([
      expect.stringContaining('check TypeError: put of rules: the key is null.'),
      expect.stringContaining('check TypeError: put of rules: the key is null.'),
    ]);
    const values = driver.outputTopic('out', texts).readAll();
    expect(values.map(({ value }) => value)).toEqual(['v 1 [limit=5]']);
  });

  it('goes behind a repartition as well', async () => {
    const builder = new StreamsBuilder();
    dataOf(builder)
      .keyBy((value) => value, { name: 'by-value', ...texts })
      .connect(rulesOf(builder))
      .process(() => new Checker(), { name: 'check', states: [seen], ...texts })
      .to('out');
    await using run = running(builder);
    await run.rule('r', '1');
    await run.data('a', 'x', 0);
    await run.data('b', 'x', 1);
    expect(run.results()).toEqual(['x x 1 [r=1]', 'x x 2 [r=1]']);
  });

  it('can be connected to several streams, through one topic', async () => {
    const builder = new StreamsBuilder();
    const broadcast = rulesOf(builder);
    for (const name of ['one', 'two'])
      dataOf(builder)
        .keyBy()
        .connect(broadcast)
        .process(() => new Checker(), { name, states: [seen], ...texts })
        .to('out');
    const topology = builder.build();
    expect([...topology.repartitionTopics.keys()]).toEqual(['rules-broadcast-repartition']);
    await using run = running(builder);
    await run.rule('r', '1');
    await run.data('a', 'v');
    expect(run.results()).toEqual(['a v 1 [r=1]', 'a v 1 [r=1]']);
  });

  it('is shown in the description: a sink to the broadcast topic, and a source beside the data', () => {
    const builder = new StreamsBuilder();
    dataOf(builder)
      .keyBy()
      .connect(rulesOf(builder))
      .process(() => new Checker(), { name: 'check', states: [seen] })
      .to('out');
    const text = builder.build().describe();
    expect(text).toContain('Sink: rules-broadcast-repartition-sink (topic: rules-broadcast-repartition)');
    expect(text).toContain('Source: rules-broadcast-repartition-source (topics: [rules-broadcast-repartition])');
    expect(text).toContain('Processor: check (stores: [check-broadcast-rules, check-state])');
  });
});

describe('event time and a broadcast stream', () => {
  class Timed extends Checker {
    override process({ timestamp }: Record<string, string>): void {
      this.context.timers.registerEventTimer(timestamp);
    }
    onTimer({ key, time }: FiredTimer<string>): void | Promise<void> {
      return this.context.forward({ key, value: `${time} [${this.rules.keys().join(' ')}]` });
    }
  }

  async function timed(ofRules: object): Promise<Running> {
    const builder = new StreamsBuilder();
    const broadcast = builder
      .stream<string, string | null>('rules', { ...texts, ...ofRules })
      .broadcast({ name: 'rules', states: [rules] });
    builder
      .stream('data', { ...texts, watermarks: watermarks.monotonous() })
      .keyBy()
      .connect(broadcast)
      .process(() => new Timed(), { name: 'check', ...texts, states: [seen] })
      .to('out');
    return running(builder, 1);
  }

  it('does not wait for broadcast records whose source says nothing about it', async () => {
    await using run = await timed({});
    await run.data('a', 'v', 0, 1_000);
    await run.data('a', 'v', 0, 2_000);
    expect(run.results()).toEqual(['a 1000 []']);
  });

  it('waits for broadcast records whose source has watermarks', async () => {
    await using run = await timed({ watermarks: watermarks.monotonous() });
    const rulesIn = run.driver.inputTopic('rules', texts);
    await run.data('a', 'v', 0, 1_000);
    await run.data('a', 'v', 0, 2_000);
    expect(run.results()).toEqual([]);
    for (const partition of [0, 1]) await rulesIn.pipe(`r${partition}`, 'x', { partition, timestamp: 1_500 });
    expect(run.results()).toEqual(['a 1000 [r0 r1]']);
  });
});

describe('broadcast state', () => {
  const shapes = mapState<string, { readonly tags: string[]; readonly at?: Date }>('shapes');

  class Keeper implements KeyedBroadcastProcessor<string, string, string, string, string, string> {
    static last: Keeper;
    static kept: Broadcast | null = null;
    declare context: KeyedBroadcastProcessorContext<string, string, string>;
    init(context: KeyedBroadcastProcessorContext<string, string, string>): void {
      this.context = context;
      Keeper.last = this;
    }
    process({ key }: Record<string, string>): void | Promise<void> {
      const [first] = this.context.broadcastState(shapes).values();
      expect(() => first?.tags.push('mine')).toThrow(TypeError);
      return this.context.forward({ key, value: (first?.tags ?? []).join(' ') });
    }
    processBroadcast({ value }: Record<string, string>, broadcast: Broadcast): void {
      Keeper.kept = broadcast;
      const given = { tags: [value] };
      broadcast.state(shapes).put('it', given);
      given.tags.push('later');
    }
  }

  function kept(): Running {
    const builder = new StreamsBuilder();
    const broadcast = builder.stream('rules', texts).broadcast({ name: 'rules', states: [shapes] });
    dataOf(builder)
      .keyBy()
      .connect(broadcast)
      .process(() => new Keeper(), { name: 'keep', states: [seen], ...texts })
      .to('out');
    return running(builder, 1);
  }

  it('is of nobody else: what is put is copied, what is read is frozen', async () => {
    await using run = kept();
    await run.rule('x', 'tag');
    await run.data('a', 'v');
    expect(run.results()).toEqual(['a tag']);
  });

  it('is written by broadcast records alone', async () => {
    await using run = kept();
    await run.rule('x', 'tag');
    const state = Keeper.kept?.state(shapes);
    expect(() => state?.put('it', { tags: [] })).toThrow(expect.objectContaining({ code: 'MILL_STATE_INVALID' }));
    expect(() => state?.remove('it')).toThrow(expect.objectContaining({ code: 'MILL_STATE_INVALID' }));
    expect(() => state?.clear()).toThrow(expect.objectContaining({ code: 'MILL_STATE_INVALID' }));
    expect(() => Keeper.kept?.applyToKeyedState(seen, () => undefined)).toThrow(expect.objectContaining({ code: 'MILL_STATE_INVALID' }));
    expect(Keeper.last.context.broadcastState(shapes)).not.toHaveProperty('put');
  });

  it('has to be declared', async () => {
    await using run = kept();
    await run.rule('x', 'tag');
    expect(() => Keeper.last.context.broadcastState(rules)).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_UNKNOWN_STORE' }));
  });

  it('comes without state and timers of a key', async () => {
    const refusals: unknown[] = [];
    class Wrong extends Checker {
      override processBroadcast(): void {
        for (const wrong of [
          () => this.seen.value(),
          () => this.context.currentKey(),
          () => this.context.timers.registerProcessingTimer(1),
        ]) {
          try {
            wrong();
          } catch (error) {
            refusals.push((error as { code: string }).code);
          }
        }
      }
    }
    const builder = new StreamsBuilder();
    dataOf(builder)
      .keyBy()
      .connect(rulesOf(builder))
      .process(() => new Wrong(), { name: 'wrong', states: [seen], ...texts })
      .to('out');
    await using run = running(builder, 1);
    await run.data('a', 'v');
    await run.rule('r', 'x');
    expect(refusals).toEqual(['MILL_STATE_INVALID', 'MILL_STATE_INVALID', 'MILL_STATE_INVALID']);
  });
});

describe('what is refused when the topology is declared', () => {
  const refused = (code: string, message: string): unknown => expect.objectContaining({ code, message: expect.stringContaining(message) });

  it.each<[string, unknown, string, string]>([
    ['no options', undefined, 'MILL_TOPOLOGY_INVALID', 'the options must be an object'],
    ['no states', { name: 'x', states: [] }, 'MILL_TOPOLOGY_INVALID', 'at least one state'],
    ['a state of one value', { name: 'x', states: [seen] }, 'MILL_TOPOLOGY_INVALID', 'seen is not'],
    ['a time to live', { name: 'x', states: [mapState('m', { ttl: { ttl: 1_000 } })] }, 'MILL_TOPOLOGY_INVALID', 'time to live'],
    ['a state twice', { name: 'x', states: [mapState('m'), mapState('m')] }, 'MILL_TOPOLOGY_DUPLICATE_NAME', 'declares state m twice'],
    ['a misspelt option', { name: 'x', state: [rules] }, 'MILL_TOPOLOGY_INVALID', 'did you mean states?'],
  ])('%s', (_what, options, code, message) => {
    expect(() => dataOf(new StreamsBuilder()).broadcast(options as never)).toThrow(refused(code, message));
  });

  it('a stream that is not broadcast, or of another builder', () => {
    const builder = new StreamsBuilder();
    const other = rulesOf(new StreamsBuilder());
    for (const wrong of [other, dataOf(builder), null])
      expect(() =>
        dataOf(builder)
          .keyBy()
          .connect(wrong as never),
      ).toThrow(refused('MILL_TOPOLOGY_INVALID', 'of the same StreamsBuilder'));
  });

  it('a processor without processBroadcast', () => {
    const builder = new StreamsBuilder();
    const connected = dataOf(builder).connect(rulesOf(builder));
    expect(() => connected.process((() => ({ process: () => undefined })) as never)).toThrow(
      refused('MILL_TOPOLOGY_INVALID', 'processBroadcast'),
    );
  });

  it('streams of one broadcast with unlike partition counts, when they are known', () => {
    const builder = new StreamsBuilder();
    const broadcast = rulesOf(builder);
    for (const topic of ['data', 'more'])
      builder
        .stream(topic, texts)
        .keyBy()
        .connect(broadcast)
        .process(() => new Checker(), { name: topic, states: [seen] });
    expect(() => new TopologyTestDriver(builder.build(), { partitions: { data: 2, more: 3 } })).toThrow(
      expect.objectContaining({ code: 'MILL_TOPOLOGY_NOT_COPARTITIONED' }),
    );
  });

  it('names that were not given, when they are required', () => {
    const builder = new StreamsBuilder();
    const broadcast = builder.stream('rules', texts).broadcast({ states: [rules] });
    dataOf(builder)
      .connect(broadcast)
      .process(() => new Checker());
    expect(() => builder.build({ explicitNames: 'require' })).toThrow(refused('MILL_TOPOLOGY_NAME_REQUIRED', 'KSTREAM-BROADCAST-'));
  });
});
