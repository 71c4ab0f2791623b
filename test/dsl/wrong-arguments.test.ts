/** What a user of JavaScript, whom no compiler warns, is told of a wrong call: at the call, in words that name the argument. */
import { describe, expect, it } from '@jest/globals';
import { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { tumbling } from '../../src/time/time-windows.js';
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
