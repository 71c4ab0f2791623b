/** What a user of JavaScript, whom no compiler warns, is told of a wrong call: at the call, in words that name the argument. */
import { describe, expect, it } from '@jest/globals';
import { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { stores } from '../../src/stores/stores.js';
import { untilTimeLimit } from '../../src/dsl/suppressed.js';
import { sessions } from '../../src/time/session-windows.js';
import { hopping, tumbling, unlimited } from '../../src/time/time-windows.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** Everything callable with anything, as in JavaScript. */
interface Loose {
  (...args: unknown[]): Loose;
  readonly [name: string]: Loose;
}

function declared() {
  const builder = new StreamsBuilder();
  const loose = (value: unknown) => value as Loose;
  return {
    stream: loose(builder.stream('a', text)),
    other: builder.stream('b', text),
    table: loose(builder.table('t', text)),
    global: builder.globalTable('g', text),
  };
}

const wrong: readonly (readonly [call: string, message: string, (of: ReturnType<typeof declared>) => unknown])[] = [
  ['mapValues()', 'mapValues: the mapper must be a function, not undefined.', ({ stream }) => stream['mapValues']!()],
  ['filter("x")', 'filter: the predicate must be a function, not "x".', ({ stream }) => stream['filter']!('x')],
  ['foreach()', 'foreach: the action must be a function, not undefined.', ({ stream }) => stream['foreach']!()],
  ['groupBy()', 'groupBy: the mapper must be a function', ({ stream }) => stream['groupBy']!()],
  [
    'process({…})',
    'process: the supplier must be a function, not an object with process.',
    ({ stream }) => stream['process']!({ process: () => 0 }),
  ],
  ['join()', 'join takes a stream, a table or a global table, not undefined.', ({ stream }) => stream['join']!()],
  ['join("t")', 'join takes a stream, a table or a global table, not "t".', ({ stream }) => stream['join']!('t', () => 0)],
  ['join(table)', 'join: the joiner must be a function, not undefined.', ({ stream, table }) => stream['join']!(table)],
  ['outerJoin(table)', 'outerJoin takes a stream, not an object', ({ stream, table }) => stream['outerJoin']!(table, () => 0)],
  ['join(stream) without windows', 'needs `windows`: see joinWindows', ({ stream, other }) => stream['join']!(other, () => 0)],
  [
    'join(global) without keyOf',
    'a join with a global table: keyOf must be a function, not undefined.',
    ({ stream, global }) => stream['join']!(global, () => 0),
  ],
  ['a table joined with a stream', 'join takes a table, not an object', ({ table, other }) => table['join']!(other, () => 0)],
  [
    'foreignKey: "id"',
    'join: the option foreignKey must be a function, not "id".',
    ({ table }) => table['join']!(table, () => 0, { foreignKey: 'id' }),
  ],
  [
    'aggregate(0, …)',
    'aggregate: the initializer must be a function, not 0.',
    ({ stream }) => stream['groupByKey']!()['aggregate']!(0, () => 0),
  ],
  [
    'windowedBy({ size })',
    'windowedBy takes what tumbling, hopping, sliding, sessions or unlimited gives, not an object with size.',
    ({ stream }) => stream['groupByKey']!()['windowedBy']!({ size: 5 }),
  ],
  ['tumbling()', 'tumbling: the options must be an object, not undefined.', () => (tumbling as unknown as Loose)()],
  ['joinWindows()', 'joinWindows: the options must be an object, not undefined.', () => (joinWindows as unknown as Loose)()],
  [
    'tumblingEventTime()',
    'tumblingEventTime: the options must be an object, not undefined.',
    () => (tumblingEventTime as unknown as Loose)(),
  ],
  [
    'suppress()',
    'suppress takes what untilTimeLimit(…) or untilWindowCloses(…) gives, not undefined.',
    ({ table }) => table['suppress']!(),
  ],
  [
    'keyBy().window(tumbling(…))',
    'window takes what tumblingEventTime, slidingEventTime, sessionEventTime and the like give, not windows of `windowedBy`.',
    ({ stream }) => stream['keyBy']!()['window']!(tumbling({ size: 5 })),
  ],
  [
    'aggregate({ add }) of windows in event time',
    'aggregate: initial must be a function, not undefined.',
    ({ stream }) => stream['keyBy']!()['window']!(tumblingEventTime({ size: 5 }))['aggregate']!({ add: () => 0 }),
  ],
  ['keyBy().process()', 'process: the supplier must be a function, not undefined.', ({ stream }) => stream['keyBy']!()['process']!()],
  ['intervalJoin()', 'intervalJoin takes a keyed stream', ({ stream }) => stream['keyBy']!()['intervalJoin']!()],
  ['mapValuesAsync()', 'mapValuesAsync: the mapper must be a function, not undefined.', ({ stream }) => stream['mapValuesAsync']!()],
  ['processValues()', 'processValues: the supplier must be a function, not undefined.', ({ stream }) => stream['processValues']!()],
  ['serdes.avro()', 'serdes.avro: the options must be an object, not undefined.', () => (serdes.avro as unknown as Loose)()],
  ['serdes.jsonSchema({})', 'serdes.jsonSchema needs a `registry`', () => serdes.jsonSchema({} as never)],
  [
    'serdes.timeWindowed()',
    'serdes.timeWindowed takes the serde of the keys, such as serdes.string.',
    () => (serdes.timeWindowed as unknown as Loose)(),
  ],
  [
    'serdes.timeWindowed(serde)',
    'serdes.timeWindowed: the window size must be milliseconds, 0 or more, not undefined.',
    () => (serdes.timeWindowed as unknown as Loose)(serdes.string),
  ],
  [
    'emit: "onClose"',
    'count: the option emit must be "onUpdate" or "onCommit" or "onWindowClose", not "onClose".',
    ({ stream }) => stream['groupByKey']!()['windowedBy']!(tumbling({ size: 5 }))['count']!({ emit: 'onClose' }),
  ],
];

describe('a wrong argument', () => {
  it.each(wrong)('%s: %s', (_call, message, call) => {
    expect(() => call(declared())).toThrow(message);
  });

  it('serdes.json without its parentheses', () => {
    const attempt = () => new StreamsBuilder().stream('a', { keySerde: serdes.string, valueSerde: serdes.json as never });
    expect(attempt).toThrow('stream: the option valueSerde must be a serde, such as serdes.string, not the function json');
  });

  it('a serde of a store that is none', () => {
    const grouped = new StreamsBuilder().stream('a', text).groupByKey();
    const attempt = () => grouped.count({ materialized: { storeName: 'counts', valueSerde: 'int64' as never } });
    expect(attempt).toThrow('count: the option materialized.valueSerde must be a serde, such as serdes.string, not "int64"');
  });

  it('a builder in place of its topology', () => {
    const builder = new StreamsBuilder() as never;
    expect(() => new TopologyTestDriver(builder)).toThrow('TopologyTestDriver takes a topology, not its builder: call build().');
    expect(() => new StreamsApp(builder, { applicationId: 'a', bootstrapServers: 'localhost:9092' })).toThrow('call build()');
  });

  it('an app without a configuration', () => {
    expect(() => new StreamsApp(new StreamsBuilder().build(), undefined as never)).toThrow('{ applicationId, bootstrapServers }');
  });

  it('a topic of the test driver without serdes, and a bare timestamp in place of options', async () => {
    const builder = new StreamsBuilder();
    builder.stream('a', text).to('b');
    const driver = new TopologyTestDriver(builder.build());
    expect(() => driver.inputTopic('a', undefined as never)).toThrow("inputTopic('a', …) needs { keySerde, valueSerde }");
    expect(() => driver.outputTopic('b', { valueSerde: serdes.json } as never)).toThrow("outputTopic('b', …) needs");
    await expect(driver.inputTopic('a', text).pipe('k', 'v', 1_000 as never)).rejects.toThrow(
      'pipe: the options must be an object, not 1000.',
    );
    await driver.close();
  });

  it('a sink without a serde is named with its topic', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('a', text)
      .mapValues((value) => value.length)
      .to('lengths');
    const driver = new TopologyTestDriver(builder.build());
    await expect(driver.inputTopic('a', text).pipe('k', 'v')).rejects.toThrow(
      'sink KSTREAM-SINK-0000000002, which writes lengths, has no value serde: give a valueSerde to it or where its values are made',
    );
  });
});

const source = 'the name of a topic, an array of names or a regular expression';
const target = 'the name of a topic, or a function that gives one';
const wrongTopics: readonly (readonly [call: string, message: string, (of: { builder: Loose; stream: Loose }) => unknown])[] = [
  ['stream()', `stream: the topic must be ${source}, not undefined.`, ({ builder }) => builder['stream']!()],
  ['stream(5)', `stream: the topic must be ${source}, not 5.`, ({ builder }) => builder['stream']!(5, text)],
  ['stream([1])', `stream: the topic must be ${source}, not [1].`, ({ builder }) => builder['stream']!([1], text)],
  ['stream([])', 'stream: the topic: there is no topic.', ({ builder }) => builder['stream']!([], text)],
  ['table(/re/)', 'table: the topic must be a text, not an object', ({ builder }) => builder['table']!(/re/, text)],
  ['table()', 'table: the topic must be a text, not undefined.', ({ builder }) => builder['table']!()],
  ['globalTable(5)', 'globalTable: the topic must be a text, not 5.', ({ builder }) => builder['globalTable']!(5, text)],
  [
    'addGlobalStore(store, 5)',
    'addGlobalStore: the topic must be a text, not 5.',
    ({ builder }) => builder['addGlobalStore']!(stores.keyValue({ name: 'g', ...text }), 5, () => ({ process: () => undefined })),
  ],
  ['to()', `to: the topic must be ${target}, not undefined.`, ({ stream }) => stream['to']!()],
  ['to(null)', `to: the topic must be ${target}, not null.`, ({ stream }) => stream['to']!(null)],
  ['to(5)', `to: the topic must be ${target}, not 5.`, ({ stream }) => stream['to']!(5)],
];

describe('what is no topic is told where it is given', () => {
  it.each(wrongTopics)('%s', (_call, message, call) => {
    const builder = new StreamsBuilder();
    const loose = { builder: builder as unknown as Loose, stream: builder.stream('a', text) as unknown as Loose };
    expect(() => call(loose)).toThrow(
      expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID', message: expect.stringContaining(message) }),
    );
  });

  it.each(['größe', 'a b', 'x'.repeat(250), '.', '..', ''])('a name that Kafka does not allow, at the call: "%s"', (name) => {
    const builder = new StreamsBuilder();
    const stream = builder.stream('a', text);
    const refused = expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID', message: expect.stringContaining(`the name "${name}"`) });
    expect(() => builder.stream(name, text)).toThrow(refused);
    expect(() => builder.stream(['b', name], text)).toThrow(refused);
    expect(() => builder.table(name, text)).toThrow(refused);
    expect(() => builder.globalTable(name, text)).toThrow(refused);
    expect(() => stream.to(name)).toThrow(refused);
  });

  it('the longest name that Kafka allows is taken', () => {
    expect(() => new StreamsBuilder().stream('x'.repeat(249), text).to('a.B_c-9')).not.toThrow();
  });

  it('a name from a function that Kafka does not allow, at the record, where the production handler is asked', async () => {
    const builder = new StreamsBuilder();
    builder.stream('a', text).to((value) => value, text);
    const topology = builder.build();
    await using strict = new TopologyTestDriver(topology);
    await expect(strict.inputTopic('a', text).pipe('k', 'größe')).rejects.toMatchObject({
      code: 'MILL_PRODUCTION',
      message: expect.stringContaining('gave "größe", a name that has characters other than ASCII letters'),
    });
    await using driver = new TopologyTestDriver(topology, { productionHandler: 'continue' });
    await driver.inputTopic('a', text).pipe('k', '..');
    await driver.inputTopic('a', text).pipe('k', 'b');
    expect(driver.outputTopic('b', text).readAll()).toMatchObject([{ value: 'b' }]);
  });
});

describe('what is no option is told', () => {
  it('an optimization that there is not', () => {
    const attempt = (optimizations: unknown) => () => new StreamsBuilder().build({ optimizations: optimizations as never });
    const wanted = 'must be an array of "singleStoreSelfJoin", "mergeRepartitions", "reuseSourceTopics"';
    expect(attempt(['resueSourceTopics'])).toThrow(`build: the option optimizations ${wanted}, not ["resueSourceTopics"].`);
    expect(attempt('reuseSourceTopics')).toThrow(`build: the option optimizations ${wanted}, not "reuseSourceTopics".`);
  });

  it('a limit of suppress that is a text', () => {
    const limit = '5' as never;
    expect(() => untilTimeLimit(limit)).toThrow('untilTimeLimit: the limit must be milliseconds, 0 or more, not "5".');
    expect(() => untilTimeLimit(5, { maxRecords: limit })).toThrow('the option maxRecords must be a number, 0 or more, not "5".');
  });

  it('partitions of a topic that the test driver will not meet', () => {
    const builder = new StreamsBuilder();
    builder.stream(['orders', 'returns'], text).to('totals');
    const topology = builder.build();
    const attempt = (partitions: { [topic: string]: number }) => () => new TopologyTestDriver(topology, { partitions });
    expect(attempt({ oders: 5 })).toThrow('partitions: the topology has no topic oders; did you mean orders?');
    expect(attempt({ customers: 5 })).toThrow('partitions: the topology has no topic customers; it has orders, returns, totals.');
    expect(attempt({ orders: 5, totals: 3 })).not.toThrow();
  });

  it('a store without a name', () => {
    expect(() => stores.keyValue({ ...text } as never)).toThrow('stores.keyValue: the name must be a text, not undefined.');
  });

  it('numbers that are texts, as texts; and nothing of an `advance` that tumbling windows have not', () => {
    const five = '5' as never;
    expect(() => tumbling({ size: five })).toThrow('tumbling windows: size must be a whole number of milliseconds above 0, not "5".');
    expect(() => hopping({ size: 5, advance: five })).toThrow(
      'advance must be a whole number of milliseconds above 0 and at most the size (5), not "5".',
    );
    expect(() => sessions({ gap: five })).toThrow('not "5"');
    expect(() => joinWindows({ before: five, after: 0 })).toThrow('not "5"');
    expect(() => unlimited({ start: five })).toThrow('not "5"');
  });

  it('emit "onWindowClose" of windows that never close', () => {
    const windowed = new StreamsBuilder().stream('a', text).groupByKey().windowedBy(unlimited());
    expect(() => windowed.count({ emit: 'onWindowClose' })).toThrow('emit "onWindowClose" is not for unlimited windows, which never close');
  });

  it('an empty topology, at the start', async () => {
    const app = new StreamsApp(new StreamsBuilder().build(), { applicationId: 'a', bootstrapServers: 'localhost:9092' });
    await expect(app.start()).rejects.toMatchObject({
      code: 'MILL_TOPOLOGY_INVALID',
      message: expect.stringContaining('the topology is empty'),
    });
    expect(app.state).toBe('created');
  });
});
