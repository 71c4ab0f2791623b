/** Processors of users in the DSL: `process`, `processValues`, the stores they bring, and what runs around them. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type {
  FixedKeyProcessor,
  FixedKeyProcessorContext,
  FixedKeyRecord,
  Processor,
  ProcessorContext,
  Record,
} from '../../src/processors/processor.js';
import type { ProcessorWrapper } from '../../src/processors/processor-wrapper.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { stores } from '../../src/stores/stores.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { TopologyBuilder } from '../../src/topology/topology-builder.js';
import { runTopology, strings, write } from './run-topology.js';

type Body = (record: FixedKeyRecord<string, string>, context: FixedKeyProcessorContext<string, string>) => void | Promise<void>;

class Fixed implements FixedKeyProcessor<string, string, string> {
  declare private context: FixedKeyProcessorContext<string, string>;

  constructor(
    private readonly body: Body,
    private readonly started: (context: FixedKeyProcessorContext<string, string>) => void = () => undefined,
  ) {}

  init(context: FixedKeyProcessorContext<string, string>): void {
    this.context = context;
    this.started(context);
  }

  process(record: FixedKeyRecord<string, string>): void | Promise<void> {
    return this.body(record, this.context);
  }
}

const declare =
  (body: Body, started?: (context: FixedKeyProcessorContext<string, string>) => void) =>
  (builder: StreamsBuilder): void => {
    builder
      .stream('in', strings)
      .processValues(() => new Fixed(body, started), { name: 'fixed', ...strings })
      .to('out', strings);
  };

describe('processValues', () => {
  it('forwards values under the key of the record in work', async () => {
    const { out } = await runTopology(
      declare((record, context) => {
        void context.forward({ value: record.value.toUpperCase() });
        return context.forward({ ...record, value: `${record.value}!`, timestamp: 9 });
      }),
      [['k', 'v', 5]],
    );
    expect(out).toEqual(['k=V@5', 'k=v!@9']);
  });

  it('causes no repartition', () => {
    const builder = new StreamsBuilder();
    const counts = builder
      .stream('in', strings)
      .processValues(() => new Fixed(() => undefined), { valueSerde: serdes.string })
      .groupByKey()
      .count();
    write(counts);
    expect(builder.build().repartitionTopics.size).toBe(0);
    expect(builder.build().describe()).toContain('KSTREAM-PROCESSVALUES-0000000001');
  });

  it('a key that somebody made is refused', async () => {
    const other = { key: 'other', value: 'v' } as unknown as FixedKeyRecord<string, string>;
    await expect(
      runTopology(
        declare((_record, context) => context.forward(other)),
        [['k', 'v', 5]],
      ),
    ).rejects.toMatchObject({
      code: 'MILL_KEY_CHANGED',
    });
  });

  it('records without a key are forwarded without one', async () => {
    const { out } = await runTopology(
      declare((record, context) => context.forward(record)),
      [[null, 'v', 5]],
    );
    expect(out).toEqual(['null=v@5']);
  });

  it('a timer forwards under the key of a record kept from before, and names it', async () => {
    const kept: FixedKeyRecord<string, string>[] = [];
    const run = (fire: (context: FixedKeyProcessorContext<string, string>) => void | Promise<void>) =>
      runTopology(
        declare(
          (record) => void kept.push(record),
          (context) => {
            context.schedule({ interval: 10, time: 'stream', startAt: 10 }, () => fire(context));
          },
        ),
        [
          ['a', '1', 0],
          ['b', '2', 10],
        ],
      );
    expect((await run((context) => context.forward({ key: kept[0]!.key, value: 'late' }))).out).toEqual(['a=late@10']);
    await expect(run((context) => context.forward({ value: 'whose?' }))).rejects.toMatchObject({ code: 'MILL_KEY_CHANGED' });
  });
});

class Totals implements Processor<string, string, string, string> {
  declare private context: ProcessorContext<string, string>;
  declare private store: KeyValueStore<string, string>;

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
    this.store = context.store('totals');
  }

  process({ key, value }: Record<string, string>): void | Promise<void> {
    const total = `${this.store.get(key) ?? ''}${value}`;
    this.store.put(key, total);
    return this.context.forward({ key, value: total });
  }
}

const totals = stores.keyValue({ name: 'totals', ...strings });

describe('stores of processors', () => {
  it('of another kind than the processor asks for are an error before the first record', async () => {
    const asks = (kind: 'keyValue' | 'window'): Processor<string, string, string, string> => ({
      init: (context) => void context.store('totals', kind),
      process: () => undefined,
    });
    const attempt = async (kind: 'keyValue' | 'window'): Promise<void> => {
      const builder = new StreamsBuilder();
      builder
        .stream('in', strings)
        .process(() => asks(kind), { name: 'asks', stores: [totals], ...strings })
        .to('out');
      const driver = new TopologyTestDriver(builder.build());
      await driver.inputTopic('in', strings).pipe('k', 'a');
      await driver.close();
    };
    await attempt('keyValue');
    await expect(attempt('window')).rejects.toMatchObject({
      code: 'MILL_STORE_WRONG_TYPE',
      message: expect.stringContaining('Store totals is of kind keyValue; asks needs window.'),
    });
  });

  it('a processor brings its store', async () => {
    const { out } = await runTopology(
      (builder) => {
        builder
          .stream('in', strings)
          .process(() => new Totals(), { name: 'sum', stores: [totals], ...strings })
          .to('out');
      },
      [
        ['k', 'a', 1],
        ['k', 'b', 2],
      ],
    );
    expect(out).toEqual(['k=a@1', 'k=ab@2']);
  });

  it('that two processors bring is one store', () => {
    const builder = new StreamsBuilder().addStateStore(totals);
    const stream = builder.stream('in', strings);
    stream.process(() => new Totals(), { name: 'one', stores: [totals] });
    stream.process(() => new Totals(), { name: 'two', stores: [totals] });
    expect(builder.build().stores.get('totals')?.processors).toEqual(['one', 'two']);
  });

  it('two stores of one name are refused', () => {
    const builder = new StreamsBuilder().addStateStore(totals);
    const again = stores.keyValue({ name: 'totals', ...strings });
    builder.stream('in', strings).process(() => new Totals(), { stores: [again] });
    expect(() => builder.build()).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_DUPLICATE_NAME' }));
  });
});

describe('suppliers', () => {
  const wrong: [string, () => unknown][] = [
    ['a processor in place of a function', () => new Totals()],
    ['a function that gives nothing', () => () => undefined],
    [
      'a function that always gives the same',
      () =>
        (
          (one) => () =>
            one
        )(new Totals()),
    ],
    ['an object without `process`', () => () => ({})],
  ];
  it.each(wrong)('%s is refused where it is given', (_name, supplier) => {
    const stream = new StreamsBuilder().stream('in', strings);
    const given = supplier() as never;
    const refused = expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID' });
    expect(() => stream.process(given, { name: 'p' })).toThrow(refused);
    expect(() => stream.processValues(given, { name: 'p' })).toThrow(refused);
    const builder = new TopologyBuilder().addSource('s', { topics: ['in'] });
    expect(() => builder.addProcessor('p', given, ['s'])).toThrow(refused);
  });
});

describe('processorWrapper', () => {
  const topology = () => {
    const builder = new StreamsBuilder();
    const counts = builder
      .stream('in', strings)
      .mapValues((v) => v, { name: 'map', valueSerde: serdes.string })
      .groupByKey()
      .count({ name: 'count' });
    write(counts);
    return builder.build();
  };

  it('runs around every processor, those of the DSL too, each inside its parent', async () => {
    const seen: string[] = [];
    const processorWrapper: ProcessorWrapper = ({ name, taskId, stores: connected }) => {
      seen.push(`open ${name} ${taskId} ${connected.length}`);
      return {
        process: (key, value, timestamp, proceed, meta) => {
          seen.push(`> ${name} ${String(key)}@${timestamp} of ${String(meta.topic)}-${meta.partition}@${meta.offset}`);
          const pending = proceed(key, value, timestamp);
          seen.push(`< ${name}`);
          return pending;
        },
        closed: () => {
          seen.push(`closed ${name}`);
        },
      };
    };
    const driver = new TopologyTestDriver(topology(), { processorWrapper, emit: 'onUpdate' });
    await driver.inputTopic('in', strings).pipe('k', 'v', { timestamp: 7 });
    await driver.close();
    expect(seen.filter((line) => / (map|count)\b/.test(line))).toEqual([
      'open map 0_0 0',
      'open count 0_0 1',
      '> map k@7 of in-0@0',
      '> count k@7 of in-0@0',
      '< count',
      '< map',
      'closed map',
      'closed count',
    ]);
  });

  it('may change records, hold them back, and leave processors alone', async () => {
    const processorWrapper: ProcessorWrapper = ({ name }) =>
      name === 'map'
        ? { process: (key, value, timestamp, proceed) => (value === 'drop' ? undefined : proceed(`${String(key)}!`, value, timestamp)) }
        : null;
    const driver = new TopologyTestDriver(topology(), { processorWrapper });
    const input = driver.inputTopic('in', strings);
    await input.pipe('k', 'v', { timestamp: 7 });
    await input.pipe('k', 'drop', { timestamp: 8 });
    expect(
      driver
        .outputTopic('out', strings)
        .readAll()
        .map(({ key, value }) => [key, value]),
    ).toEqual([['k!', '1']]);
    await driver.close();
  });

  it('runs around timers and what is emitted at a commit', async () => {
    const seen: string[] = [];
    const builder = new StreamsBuilder();
    builder
      .stream('in', strings)
      .processValues(
        () =>
          new Fixed(
            (record, context) => context.forward(record),
            (context) => {
              context.schedule({ interval: 5, time: 'wallClock' }, () => void seen.push('timer'));
            },
          ),
        { name: 'timed', valueSerde: serdes.string },
      )
      .groupByKey()
      .count({ name: 'count' });
    const processorWrapper: ProcessorWrapper = ({ name }) => ({
      punctuate: (timestamp, proceed) => {
        seen.push(`> ${name}@${timestamp}`);
        return proceed(timestamp);
      },
      flush: (proceed) => {
        seen.push(`flush ${name}`);
        return proceed();
      },
    });
    const driver = new TopologyTestDriver(builder.build(), { processorWrapper });
    await driver.inputTopic('in', strings).pipe('k', 'v');
    await driver.advanceWallClock(5);
    await driver.close();
    expect(seen.slice(0, 2)).toEqual(['flush timed', 'flush count']);
    expect(seen).toContain('> timed@5');
    expect(seen.indexOf('timer')).toBe(seen.indexOf('> timed@5') + 1);
  });

  it('an error of its own counts as one of the processor', async () => {
    const failing: ProcessorWrapper = ({ name }) =>
      name === 'map'
        ? {
            process: () => {
              throw new Error('tracer broke');
            },
          }
        : null;
    const driver = new TopologyTestDriver(topology(), { processorWrapper: failing });
    await expect(driver.inputTopic('in', strings).pipe('k', 'v')).rejects.toThrow(
      /map failed on the record of in-0 at offset 0: tracer broke/,
    );
    await driver.close().catch(() => undefined);
  });
});
