/** Options that nobody knows, or of a wrong type, are refused where they are given; what user functions give is held to one rule. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { untilTimeLimit, untilWindowCloses } from '../../src/dsl/suppressed.js';
import { checkOptions, nearest, oneOf, text } from '../../src/errors/checked-options.js';
import { inclusiveBounds } from '../../src/processors/interval-join/interval-bounds.js';
import { serdes } from '../../src/serdes/serdes.js';
import { stores } from '../../src/stores/stores.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { hopping, tumbling, unlimited } from '../../src/time/time-windows.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { countEvictor } from '../../src/processors/windowing/evictor.js';
import { continuousEventTimeTrigger } from '../../src/processors/windowing/triggers/continuous-triggers.js';
import { countTrigger } from '../../src/processors/windowing/triggers/count-trigger.js';
import { timeoutTrigger } from '../../src/processors/windowing/triggers/timeout-trigger.js';
import { aggregatingState, listState, mapState, reducingState, valueState } from '../../src/processors/state/state-descriptor.js';
import { sessionEventTime } from '../../src/time/windowing/session-windows.js';
import { slidingEventTime } from '../../src/time/windowing/sliding-windows.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import { runTopology, strings, write } from './run-topology.js';

/** Everything callable with anything, as in JavaScript. */
interface Loose {
  (...args: unknown[]): Loose;
  readonly [name: string]: Loose;
}
const loose = (value: unknown) => value as Loose;

function declared() {
  const builder = new StreamsBuilder();
  const stream = builder.stream('a', strings);
  return {
    builder: loose(builder),
    stream: loose(stream),
    other: builder.stream('b', strings),
    table: loose(builder.table('t', strings)),
    global: builder.globalTable('g', strings),
    grouped: loose(stream.groupByKey()),
  };
}

const fn = () => 'x';

const misspelt: readonly (readonly [call: string, message: string, (of: ReturnType<typeof declared>) => unknown])[] = [
  ['stream', 'stream has no option keyserde; did you mean keySerde?', ({ builder }) => builder['stream']!('x', { keyserde: 1 })],
  ['table', 'table has no option materialised; did you mean materialized?', ({ builder }) => builder['table']!('x', { materialised: {} })],
  [
    'where a global table begins',
    'globalTable has no option offsetReset',
    ({ builder }) => builder['globalTable']!('x', { offsetReset: 'latest' }),
  ],
  [
    'the clock of a global store',
    'addGlobalStore has no option timestampExtractor',
    ({ builder }) => builder['addGlobalStore']!(stores.keyValue({ name: 's' }), 'x', () => ({ process: fn }), { timestampExtractor: {} }),
  ],
  ['globalTable', 'globalTable has no option emit', ({ builder }) => builder['globalTable']!('x', { emit: 'onUpdate' })],
  ['build', 'build has no option explicitName; did you mean explicitNames?', ({ builder }) => builder['build']!({ explicitName: 'off' })],
  ['filter', 'filter has no option named; did you mean name?', ({ stream }) => stream['filter']!(fn, { named: 'f' })],
  ['filterNot', 'filterNot has no option x', ({ stream }) => stream['filterNot']!(fn, { x: 1 })],
  ['map', 'map has no option valueSerd; did you mean valueSerde?', ({ stream }) => stream['map']!(fn, { valueSerd: 1 })],
  ['mapValues', 'mapValues has no option valSerde; did you mean valueSerde?', ({ stream }) => stream['mapValues']!(fn, { valSerde: 1 })],
  ['flatMap', 'flatMap has no option x', ({ stream }) => stream['flatMap']!(fn, { x: 1 })],
  ['flatMapValues', 'flatMapValues has no option x', ({ stream }) => stream['flatMapValues']!(fn, { x: 1 })],
  ['selectKey', 'selectKey has no option x', ({ stream }) => stream['selectKey']!(fn, { x: 1 })],
  ['peek', 'peek has no option x', ({ stream }) => stream['peek']!(fn, { x: 1 })],
  ['foreach', 'foreach has no option x', ({ stream }) => stream['foreach']!(fn, { x: 1 })],
  ['split', 'split has no option x', ({ stream }) => stream['split']!({ x: 1 })],
  ['branch', 'branch has no option x', ({ stream }) => stream['split']!()['branch']!(fn, { x: 1 })],
  ['merge', 'merge has no option x', ({ stream, other }) => stream['merge']!(other, { x: 1 })],
  [
    'repartition',
    'repartition has no option partition; did you mean partitions?',
    ({ stream }) => stream['repartition']!({ partition: 3 }),
  ],
  [
    'mapValuesAsync',
    'mapValuesAsync has no option concurency; did you mean concurrency?',
    ({ stream }) => stream['mapValuesAsync']!(fn, { concurency: 1 }),
  ],
  [
    'retry of mapAsync',
    'mapAsync has no option retry.attempt; did you mean retry.attempts?',
    ({ stream }) => stream['mapAsync']!(fn, { retry: { attempt: 1 } }),
  ],
  ['flatMapValuesAsync', 'flatMapValuesAsync has no option x', ({ stream }) => stream['flatMapValuesAsync']!(fn, { x: 1 })],
  ['flatMapAsync', 'flatMapAsync has no option x', ({ stream }) => stream['flatMapAsync']!(fn, { x: 1 })],
  [
    'processAsync',
    'processAsync has no option store; did you mean stores?',
    ({ stream }) => stream['processAsync']!(() => ({}), { store: 's' }),
  ],
  [
    'window',
    'window has no option allowedLatness; did you mean allowedLateness?',
    ({ stream }) => stream['keyBy']!()['window']!(tumblingEventTime({ size: 1 }), { allowedLatness: 1 }),
  ],
  [
    'aggregate of windows in event time',
    'aggregate has no option accumulatorserde; did you mean accumulatorSerde?',
    ({ stream }) => stream['keyBy']!()['window']!(tumblingEventTime({ size: 1 }))['aggregate']!({}, { accumulatorserde: 1 }),
  ],
  [
    'reduce of windows in event time',
    'reduce has no option sideOutput',
    ({ stream }) => stream['keyBy']!()['window']!(tumblingEventTime({ size: 1 }))['reduce']!(fn, { sideOutput: true }),
  ],
  [
    'process of windows in event time',
    'process has no option state; did you mean states?',
    ({ stream }) => stream['keyBy']!()['window']!(tumblingEventTime({ size: 1 }))['process']!(fn, { state: [] }),
  ],
  [
    'process by key',
    'process has no option state; did you mean states?',
    ({ stream }) => stream['keyBy']!()['process']!(fn, { state: [] }),
  ],
  [
    'intervalJoin',
    'intervalJoin has no option sideOutputlate; did you mean sideOutputLate?',
    ({ stream }) => stream['keyBy']!()['intervalJoin']!(stream['keyBy']!(), { lower: 0, upper: 1 }, fn, { sideOutputlate: true }),
  ],
  ['bounds', 'intervalJoin: the bounds has no option lowr; did you mean lower?', () => inclusiveBounds({ lowr: 0, upper: 1 } as never)],
  ['tumblingEventTime', 'tumblingEventTime has no option sise; did you mean size?', () => tumblingEventTime({ sise: 1 } as never)],
  ['slidingEventTime', 'slidingEventTime has no option advance', () => slidingEventTime({ size: 2, advance: 1 } as never)],
  ['sessionEventTime', 'sessionEventTime has no option gapp; did you mean gap?', () => sessionEventTime({ gapp: 1 } as never)],
  [
    'watermarks',
    'watermarks.monotonous has no option idlenes; did you mean idleness?',
    () => watermarks.monotonous({ idlenes: 1 } as never),
  ],
  [
    'untilTimeLimit',
    'untilTimeLimit has no option maxRecord; did you mean maxRecords?',
    () => untilTimeLimit(1, { maxRecord: 1 } as never),
  ],
  [
    'untilWindowCloses',
    'untilWindowCloses: the option whenFull must be "emitEarly" or "shutDown" or "spill", not "stop".',
    () => untilWindowCloses({ whenFull: 'stop' } as never),
  ],
  [
    'serdes.avro',
    'serdes.avro has no option subjekt; did you mean subject?',
    () => serdes.avro({ registry: { host: 'h' }, subjekt: 's' } as never),
  ],
  ['toTable', 'toTable has no option x', ({ stream }) => stream['toTable']!({ x: 1 })],
  ['to', 'to has no option partitoner; did you mean partitioner?', ({ stream }) => stream['to']!('x', { partitoner: 1 })],
  ['groupBy', 'groupBy has no option x', ({ stream }) => stream['groupBy']!(fn, { x: 1 })],
  ['groupByKey', 'groupByKey has no option x', ({ stream }) => stream['groupByKey']!({ x: 1 })],
  ['keyBy', 'keyBy has no option x', ({ stream }) => stream['keyBy']!({ x: 1 })],
  ['process', 'process has no option store; did you mean stores?', ({ stream }) => stream['process']!(fn, { store: 's' })],
  [
    'processValues',
    'processValues has no option store; did you mean stores?',
    ({ stream }) => stream['processValues']!(fn, { store: 's' }),
  ],
  [
    'a join of streams',
    'join has no option window; did you mean windows?',
    ({ stream, other }) => stream['join']!(other, fn, { window: 1 }),
  ],
  ['a join with a table', 'leftJoin has no option windows', ({ stream, table }) => stream['leftJoin']!(table, fn, { windows: 1 })],
  [
    'a join with a global table',
    'join has no option keyof; did you mean keyOf?',
    ({ stream, global }) => stream['join']!(global, fn, { keyof: fn }),
  ],
  ['a table’s filter', 'filter has no option emit', ({ table }) => table['filter']!(fn, { emit: 'onUpdate' })],
  ['a table’s mapValues', 'mapValues has no option x', ({ table }) => table['mapValues']!(fn, { x: 1 })],
  ['a table’s groupBy', 'groupBy has no option x', ({ table }) => table['groupBy']!(fn, { x: 1 })],
  ['toStream', 'toStream has no option x', ({ table }) => table['toStream']!({ x: 1 })],
  [
    'a join by foreign key',
    'join has no option foreignkey; did you mean foreignKey?',
    ({ table }) => table['join']!(table, fn, { foreignkey: fn }),
  ],
  ['count', 'count has no option storeName', ({ grouped }) => grouped['count']!({ storeName: 's' })],
  [
    'materialized',
    'reduce has no option materialized.storename; did you mean materialized.storeName?',
    ({ grouped }) => grouped['reduce']!(fn, { materialized: { storename: 's' } }),
  ],
  [
    'a windowed count',
    'count has no option emitt; did you mean emit?',
    ({ grouped }) => grouped['windowedBy']!(tumbling({ size: 1 }))['count']!({ emitt: 1 }),
  ],
  ['a session count', 'count has no option grace', ({ grouped }) => grouped['windowedBy']!(sessions({ gap: 1 }))['count']!({ grace: 1 })],
  ['a cogroup', 'aggregate has no option x', ({ grouped }) => grouped['cogroup']!(fn)['aggregate']!(fn, { x: 1 })],
  ['tumbling', 'tumbling has no option sise; did you mean size?', () => tumbling({ sise: 1 } as never)],
  ['hopping', 'hopping has no option advanceBy', () => hopping({ size: 2, advanceBy: 1 } as never)],
  ['unlimited', 'unlimited has no option begin', () => unlimited({ begin: 1 } as never)],
  ['sliding', 'sliding has no option difference', () => sliding({ difference: 1 } as never)],
  ['sessions', 'sessions has no option gapp; did you mean gap?', () => sessions({ gapp: 1 } as never)],
  ['joinWindows', 'joinWindows has no option befor; did you mean before?', () => joinWindows({ befor: 1, after: 1 } as never)],
  [
    'a store',
    'stores.keyValue has no option valueSerd; did you mean valueSerde?',
    () => stores.keyValue({ name: 's', valueSerd: 1 } as never),
  ],
  [
    'a window store',
    'stores.window has no option windowsize; did you mean windowSize?',
    () => stores.window({ name: 's', windowsize: 1 } as never),
  ],
  ['a session store', 'stores.session has no option x', () => stores.session({ name: 's', retention: 1, x: 1 } as never)],
  [
    'an LRU store',
    'stores.lru has no option maxentries; did you mean maxEntries?',
    () => stores.lru({ name: 's', maxentries: 1 } as never),
  ],
  ['an evictor', 'the evictor count(3) has no option afterwards', () => countEvictor(3, { afterwards: true } as never)],
  [
    'a timeout trigger',
    'timeoutTrigger has no option resetOnRecords; did you mean resetOnRecord?',
    () => timeoutTrigger(countTrigger(3), { timeout: 1, resetOnRecords: true } as never),
  ],
  ['a value state', 'valueState last has no option serd; did you mean serde?', () => valueState('last', { serd: serdes.string } as never)],
  ['a map state', 'mapState seen has no option valueSerde', () => mapState('seen', { valueSerde: serdes.string } as never)],
  ['a list state', 'listState l has no option defaultValue', () => listState('l', { defaultValue: [] } as never)],
  ['a reducing state', 'reducingState r has no option reducer; did you mean reduce?', () => reducingState('r', { reducer: fn } as never)],
  ['a versioned store', 'stores.versioned has no option retention', () => stores.versioned({ name: 's', retention: 1 } as never)],
];

describe('an option that is not there', () => {
  it.each(misspelt)('%s: %s', (_call, message, attempt) => {
    let error: unknown;
    try {
      attempt(declared());
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'MILL_TOPOLOGY_INVALID', message: expect.stringContaining(message) });
  });
});

describe('an option of a wrong type', () => {
  it.each([
    ['a name', 'the option name must be a text, not 7', ({ stream }: ReturnType<typeof declared>) => stream['filter']!(fn, { name: 7 })],
    ['a serde', 'must be a serde, such as serdes.string, not "string"', ({ stream }) => stream['map']!(fn, { keySerde: 'string' })],
    ['emit', 'must be "onUpdate" or "onCommit", not "always"', ({ grouped }) => grouped['count']!({ emit: 'always' })],
    [
      'logged',
      'materialized.logged must be true or false, not "no"',
      ({ grouped }) => grouped['count']!({ materialized: { logged: 'no' } }),
    ],
    [
      'materialized',
      'the option materialized must be an object, not "counts"',
      ({ grouped }) => grouped['count']!({ materialized: 'counts' }),
    ],
    ['stores', 'the option stores must be an array, not "s"', ({ stream }) => stream['process']!(() => ({ process: fn }), { stores: 's' })],
    ['the options', 'count: the options must be an object, not "counts"', ({ grouped }) => grouped['count']!('counts')],
    ['no options at all', 'tumbling: the options must be an object, not undefined', () => tumbling(undefined as never)],
    [
      'a partitioner',
      'the option partitioner must be a partitioner, an object with partition(), not the function fn',
      ({ stream }) => stream['to']!('x', { partitioner: fn }),
    ],
    [
      'a timestamp extractor',
      'must be a timestamp extractor, such as wallclockTimestamp(), not an object',
      ({ builder }) => builder['stream']!('x', { timestampExtractor: {} }),
    ],
    [
      'watermarks',
      'must be what watermarks.monotonous() and the like give, not an object',
      ({ builder }) => builder['stream']!('x', { watermarks: {} }),
    ],
    [
      'an offset reset',
      'the option offsetReset must be "earliest", "latest", "none" or { duration',
      ({ builder }) => builder['stream']!('x', { offsetReset: { duration: -1 } }),
    ],
    [
      'partitions',
      'the option partitions must be a whole number, 1 or more, not 0',
      ({ stream }) => stream['repartition']!({ partitions: 0 }),
    ],
    [
      'configs of a changelog',
      'materialized.changelogConfigs must be an object of texts',
      ({ grouped }) => grouped['count']!({ materialized: { changelogConfigs: { 'retention.ms': 5 } } }),
    ],
    ['a logger', 'must be a logger with debug, info, warn, error and child', ({ builder }) => builder['build']!({ logger: {} })],
    [
      'a trigger',
      'must be a trigger, such as countTrigger(10), not an object',
      ({ stream }) => stream['keyBy']!()['window']!(tumblingEventTime({ size: 1 }), { trigger: {} }),
    ],
    [
      'an evictor',
      'must be an evictor, such as countEvictor(10), not an object',
      ({ stream }) => stream['keyBy']!()['window']!(tumblingEventTime({ size: 1 }), { evictor: {} }),
    ],
    ['the number of an evictor', 'countEvictor: the number of records must be a whole number, 1 or more, not NaN', () => countEvictor(NaN)],
    ['the number of a trigger', 'countTrigger: the number of records must be a whole number, 1 or more, not 0', () => countTrigger(0)],
    ['the interval of a trigger', 'the interval must be milliseconds, above 0, not 0', () => continuousEventTimeTrigger(0)],
    [
      'a timeout',
      'timeoutTrigger: the timeout must be milliseconds, above 0, not undefined',
      () => timeoutTrigger(countTrigger(1), {} as never),
    ],
    ['the name of a state', 'valueState: the name must be a text, not 5', () => valueState(5 as never)],
    ['a reducer of a state', 'reducingState r: reduce must be a function, not undefined', () => reducingState('r', {} as never)],
    [
      'an aggregate of a state',
      'aggregatingState a: aggregate must be an object with initial, add and result',
      () => aggregatingState('a', { aggregate: {} } as never),
    ],
    ['an engine', 'must be "memory" or "leveldb", not "rocksdb"', () => stores.keyValue({ name: 's', engine: 'rocksdb' } as never)],
  ] as [string, string, (of: ReturnType<typeof declared>) => unknown][])('%s', (_what, message, attempt) => {
    expect(() => attempt(declared())).toThrow(
      expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID', message: expect.stringContaining(message) }),
    );
  });

  it('undefined counts as absent', () => {
    expect(() => checkOptions('x', { name: undefined }, { name: text })).not.toThrow();
    expect(() => checkOptions('x', undefined, {})).not.toThrow();
  });
});

describe('the name that was meant', () => {
  it.each([
    ['keyserde', 'keySerde'],
    ['valueSerd', 'valueSerde'],
    ['naem', 'name'],
    ['nmea', null],
    ['somethingElse', null],
  ])('of %s is %s', (given, expected) => {
    expect(nearest(given, ['name', 'keySerde', 'valueSerde'])).toBe(expected);
  });

  it('or all of those that there are', () => {
    expect(() => checkOptions('x', { somethingElse: 1 }, { name: text, kind: oneOf('a') })).toThrow(
      'x has no option somethingElse; it has name, kind.',
    );
  });
});

describe('undefined from a user function', () => {
  const forgot = (): never => undefined as never;
  const laterForgot = () => Promise.resolve(undefined as never);
  const rows: readonly (readonly [string, (builder: StreamsBuilder, fn: () => string) => void])[] = [
    ['mapValues', (builder, fn) => builder.stream('in', strings).mapValues(fn, strings).to('out', strings)],
    ['selectKey', (builder, fn) => builder.stream('in', strings).selectKey(fn).to('out', strings)],
    ['a reducer', (builder, fn) => write(builder.stream('in', strings).groupByKey().reduce(fn))],
    [
      'an aggregator',
      (builder, fn) =>
        write(
          builder
            .stream('in', strings)
            .groupByKey()
            .aggregate(() => '', fn, { materialized: strings }),
        ),
    ],
    [
      'an initializer',
      (builder, fn) =>
        write(
          builder
            .stream('in', strings)
            .groupByKey()
            .aggregate(fn, () => '', { materialized: strings }),
        ),
    ],
    [
      'a windowed reducer',
      (builder, fn) =>
        write(
          builder
            .stream('in', strings)
            .groupByKey()
            .windowedBy(tumbling({ size: 99 }))
            .reduce(fn),
        ),
    ],
    [
      'a session aggregator',
      (builder, fn) =>
        write(
          builder
            .stream('in', strings)
            .groupByKey()
            .windowedBy(sessions({ gap: 9 }))
            .aggregate(
              () => '',
              fn,
              () => '',
              { materialized: strings },
            ),
        ),
    ],
    [
      'keyOf of a join with a global table',
      (builder, fn) =>
        builder
          .stream('in', strings)
          .join(builder.globalTable('g', strings), (value) => value, { keyOf: fn, ...strings })
          .to('out'),
    ],
    [
      'foreignKey of a join of tables',
      (builder, fn) => write(builder.table('in', strings).leftJoin(builder.table('o', strings), (value) => value, { foreignKey: fn })),
    ],
    ['a table’s mapper', (builder, fn) => write(builder.table('in', strings).mapValues(fn, { valueSerde: serdes.string }))],
  ];

  it.each(rows)('of %s fails the record, names operator and function, and asks the handler', async (_what, declare) => {
    for (const forgetful of [forgot, laterForgot as never]) {
      const records = [
        ['k', 'v1', 1],
        ['k', 'v2', 2],
      ] as const;
      const attempt = runTopology((builder) => declare(builder, forgetful), records);
      await expect(attempt).rejects.toMatchObject({
        code: 'MILL_PROCESSING',
        message: expect.stringMatching(/gave undefined: (return a value, or null for none|it must give an array)/),
      });
      expect((await runTopology((builder) => declare(builder, forgetful), records, { processingHandler: 'continue' })).dropped).toEqual({});
    }
  });

  it.each([
    [
      'map',
      (builder: StreamsBuilder) =>
        builder
          .stream('in', strings)
          .map((value) => [undefined as unknown as string, value] as const)
          .to('out', strings),
    ],
    [
      'flatMap',
      (builder: StreamsBuilder) =>
        builder
          .stream('in', strings)
          .flatMap((_value, key) => [[key, undefined as unknown as string] as const])
          .to('out', strings),
    ],
    [
      'flatMapValues',
      (builder: StreamsBuilder) =>
        builder
          .stream('in', strings)
          .flatMapValues(() => [undefined as unknown as string])
          .to('out', strings),
    ],
  ])('within what %s gives fails it too', async (_what, declare) => {
    await expect(runTopology(declare, [['k', 'v', 1]])).rejects.toMatchObject({ code: 'MILL_PROCESSING' });
  });

  it('null is a tombstone, and deletes a row', async () => {
    const { out } = await runTopology(
      (builder) =>
        builder
          .stream('in', strings)
          .mapValues(() => null as unknown as string, { valueSerde: serdes.string })
          .to('out', strings),
      [['k', 'v', 1]],
    );
    expect(out).toEqual(['k=null@1']);
    const deleted = await runTopology(
      (builder) =>
        write(
          builder
            .stream('in', strings)
            .groupByKey()
            .reduce((total, value) => (value === 'stop' ? null : total)),
        ),
      [
        ['k', 'go', 1],
        ['k', 'stop', 2],
      ],
    );
    expect(deleted.out).toEqual(['k=go@1', 'k=null@2']);
  });
});
