import { describe, expect, it } from '@jest/globals';
import { untilTimeLimit } from '../../src/dsl/suppressed.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { Logger } from '../../src/observability/logger.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { Processor } from '../../src/processors/processor.js';
import { countSerde } from '../../src/serdes/count.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { Serde } from '../../src/serdes/serde.js';
import { keyValueStore } from '../../src/stores/store-builders.js';
import { hopping, tumbling } from '../../src/time/time-windows.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import type { SinkNode, SourceNode, Topology } from '../../src/topology/nodes.js';
import { codeOf } from '../topology/error-code.js';

const { string, int32, double } = serdes;
const typed = { keySerde: string, valueSerde: double };

class Discard implements Processor<unknown, unknown> {
  process(): void {
    // Nothing is forwarded.
  }
}

function sink(topology: Topology, topic = 'out'): SinkNode {
  for (const node of topology.nodes.values()) {
    if (node.kind === 'sink' && typeof node.topic !== 'function' && node.topic.name === topic) return node;
  }
  throw new Error(`no sink to ${topic}`);
}

function serdesOf(node: { readonly keySerde: Serde<unknown> | null; readonly valueSerde: Serde<unknown> | null }) {
  return [node.keySerde?.name ?? null, node.valueSerde?.name ?? null];
}

describe('serdes', () => {
  const cases: readonly (readonly [what: string, expected: readonly (string | null)[], declare: (builder: StreamsBuilder) => void])[] = [
    [
      'are carried by filter and peek',
      ['string', 'double'],
      (b) =>
        b
          .stream('in', typed)
          .filter(() => true)
          .filterNot(() => false)
          .peek(() => 0)
          .to('out'),
    ],
    [
      'of values are dropped by mapValues',
      ['string', null],
      (b) =>
        b
          .stream('in', typed)
          .mapValues((v) => v)
          .to('out'),
    ],
    [
      'of values can be given to mapValues',
      ['string', 'int32'],
      (b) =>
        b
          .stream('in', typed)
          .mapValues((v) => v, { valueSerde: int32 })
          .to('out'),
    ],
    [
      'of values are dropped by flatMapValues',
      ['string', null],
      (b) =>
        b
          .stream('in', typed)
          .flatMapValues((v) => [v])
          .to('out'),
    ],
    [
      'of keys are dropped by selectKey',
      [null, 'double'],
      (b) =>
        b
          .stream('in', typed)
          .selectKey((v) => v)
          .to('out'),
    ],
    [
      'of keys can be given to selectKey',
      ['int32', 'double'],
      (b) =>
        b
          .stream('in', typed)
          .selectKey((v) => v, { keySerde: int32 })
          .to('out'),
    ],
    [
      'are dropped by map and flatMap',
      [null, null],
      (b) =>
        b
          .stream('in', typed)
          .map((v, k) => [k, v])
          .flatMap((v, k) => [[k, v]])
          .to('out'),
    ],
    [
      'can be given to map',
      ['string', 'int32'],
      (b) =>
        b
          .stream('in', typed)
          .map((v, k) => [k, v], { keySerde: string, valueSerde: int32 })
          .to('out'),
    ],
    ['given to `to` win', ['string', 'int32'], (b) => b.stream('in', typed).to('out', { valueSerde: int32 })],
    ['of a table go with its stream', ['string', 'double'], (b) => b.table('in', typed).toStream().to('out')],
    ['of counts are 8 bytes', ['string', 'count'], (b) => b.stream('in', typed).groupByKey().count().toStream().to('out')],
    [
      'of a reduction are those of its records',
      ['string', 'double'],
      (b) =>
        b
          .stream('in', typed)
          .groupByKey()
          .reduce((a) => a)
          .toStream()
          .to('out'),
    ],
    [
      'of an aggregate are those of its store',
      ['string', 'int32'],
      (b) =>
        b
          .stream('in', typed)
          .groupByKey()
          .aggregate(
            () => 0,
            (n) => n + 1,
            { materialized: { valueSerde: int32 } },
          )
          .toStream()
          .to('out'),
    ],
    [
      'of windowed keys wrap those of the keys',
      ['timeWindowed(string, 10)', 'count'],
      (b) =>
        b
          .stream('in', typed)
          .groupByKey()
          .windowedBy(tumbling({ size: 10 }))
          .count()
          .toStream()
          .to('out'),
    ],
    [
      'of values are dropped by joins',
      ['string', null],
      (b) =>
        b
          .stream('in', typed)
          .join(b.table('t', typed), (v) => v)
          .to('out'),
    ],
    [
      'of joined values can be given',
      ['string', 'int32'],
      (b) =>
        b
          .stream('in', typed)
          .join(b.table('t', typed), (v) => v, { valueSerde: int32 })
          .to('out'),
    ],
    [
      'of joins with a global table',
      ['string', 'int32'],
      (b) =>
        b
          .stream('in', typed)
          .leftJoin(b.globalTable('g', typed), (v) => v, { keyOf: (_, k) => k, valueSerde: int32 })
          .to('out'),
    ],
    ['of keys survive a merge of like streams', ['string', null], (b) => b.stream('in', typed).merge(b.stream('in2', typed)).to('out')],
    [
      'are dropped by process, unless given',
      [null, 'int32'],
      (b) =>
        b
          .stream('in', typed)
          .process(() => new Discard(), { valueSerde: int32 })
          .to('out'),
    ],
  ];
  for (const [what, expected, declare] of cases) {
    it(what, () => {
      const builder = new StreamsBuilder();
      declare(builder);
      expect(serdesOf(sink(builder.build()))).toEqual(expected);
    });
  }

  it('stand at both ends of a repartition topic', () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', typed)
      .groupBy((value) => value, { name: 'by-value', keySerde: double })
      .count();
    const topology = builder.build();
    expect(serdesOf(sink(topology, 'by-value-repartition'))).toEqual(['double', 'double']);
    expect(serdesOf(topology.nodes.get('by-value-repartition-source') as SourceNode)).toEqual(['double', 'double']);
  });

  it('of a store are those of the table', () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', typed)
      .groupByKey()
      .count({ materialized: { storeName: 's' } });
    const { spec } = builder.build().stores.get('s')!;
    expect(spec).toMatchObject({ keySerde: string, valueSerde: countSerde });
  });
});

describe('stores of aggregations', () => {
  function specOf(declare: (builder: StreamsBuilder) => void) {
    const builder = new StreamsBuilder();
    declare(builder);
    return builder.build().stores.get('s')?.spec;
  }
  const materialized = { storeName: 's' };

  it('are key-value stores with the options given', () => {
    const options = {
      materialized: { ...materialized, engine: 'memory', logged: false, changelogConfigs: { 'segment.ms': '1' } },
    } as const;
    expect(specOf((b) => b.stream('in').groupByKey().count(options))).toMatchObject({
      kind: 'timestampedKeyValue',
      engine: 'memory',
      logged: false,
      changelogConfigs: { 'segment.ms': '1' },
    });
  });

  it('keep track of changes unless results leave at once', () => {
    expect(specOf((b) => b.stream('in').groupByKey().count({ materialized }))).toMatchObject({ trackChanges: 'ifEmittingOnCommit' });
    expect(specOf((b) => b.stream('in').groupByKey().count({ materialized, emit: 'onUpdate' }))).toMatchObject({ trackChanges: false });
  });

  it('keep windows for size and grace, or longer when told', () => {
    const windows = hopping({ size: 10, advance: 5, grace: 7 });
    const count = (options: object) => (b: StreamsBuilder) =>
      b
        .stream('in')
        .groupByKey()
        .windowedBy(windows)
        .count({ ...options });
    expect(specOf(count({ materialized }))).toMatchObject({
      kind: 'timestampedWindow',
      windowSize: 10,
      retention: 17,
      trackChanges: 'ifEmittingOnCommit',
      closeTracking: false,
    });
    expect(specOf(count({ materialized: { ...materialized, retention: 100 } }))).toMatchObject({ retention: 100 });
    expect(specOf(count({ materialized, emit: 'onWindowClose' }))).toMatchObject({ trackChanges: false, closeTracking: true });
    expect(() => specOf(count({ materialized: { ...materialized, retention: 16 } }))).toThrow(/retention of 16 ms is shorter .* 17 ms/);
  });
});

describe('repartition topics', () => {
  const topics = (declare: (builder: StreamsBuilder) => void) => {
    const builder = new StreamsBuilder();
    declare(builder);
    return [...builder.build().repartitionTopics.keys()];
  };

  it('appear when the key may have changed, and only then', () => {
    expect(
      topics((b) =>
        b
          .stream('in')
          .mapValues((v) => v)
          .filter(() => true)
          .groupByKey()
          .count(),
      ),
    ).toEqual([]);
    expect(
      topics((b) =>
        b
          .stream('in')
          .map((v, k) => [k, v])
          .groupByKey({ name: 'g' })
          .count(),
      ),
    ).toEqual(['g-repartition']);
    expect(
      topics((b) =>
        b
          .stream('in')
          .flatMap((v, k) => [[k, v]])
          .groupByKey({ name: 'g' })
          .count(),
      ),
    ).toEqual(['g-repartition']);
    expect(
      topics((b) =>
        b
          .stream('in')
          .process(() => new Discard())
          .groupByKey({ name: 'g' })
          .count(),
      ),
    ).toEqual(['g-repartition']);
    expect(
      topics((b) =>
        b
          .stream('a')
          .selectKey((v) => v)
          .merge(b.stream('b'))
          .groupByKey({ name: 'g' })
          .count(),
      ),
    ).toEqual(['g-repartition']);
  });

  it('are not needed again after a repartition', () => {
    expect(
      topics((b) =>
        b
          .stream('in')
          .selectKey((v) => v)
          .repartition({ name: 'once' })
          .groupByKey()
          .count(),
      ),
    ).toEqual(['once-repartition']);
  });

  it('are named after the grouping, the store or the join', () => {
    expect(
      topics((b) =>
        b
          .stream('in')
          .groupBy((v) => v)
          .count({ materialized: { storeName: 'counts' } }),
      ),
    ).toEqual(['counts-repartition']);
    expect(
      topics((b) =>
        b
          .stream('in')
          .selectKey((v) => v)
          .join(b.table('t'), (v) => v, { name: 'enrich' }),
      ),
    ).toEqual(['enrich-repartition']);
    expect(
      topics((b) =>
        b
          .stream('in')
          .selectKey((v) => v, { name: 'by-v' })
          .join(b.table('t'), (v) => v),
      ),
    ).toEqual(['by-v-repartition']);
    expect(
      topics((b) =>
        b
          .stream('in')
          .selectKey((v) => v)
          .toTable({ name: 'latest' }),
      ),
    ).toEqual(['latest-repartition']);
  });

  it('of a named grouping are shared by its aggregations', () => {
    const shared = (b: StreamsBuilder) => {
      const grouped = b.stream('in').groupBy((v) => v, { name: 'g' });
      grouped.count();
      grouped.reduce((a) => a);
    };
    expect(topics(shared)).toEqual(['g-repartition']);
  });

  it('of a stream are shared by its unnamed joins', () => {
    const joins = (b: StreamsBuilder) => {
      const stream = b.stream('in').selectKey((v) => v, { name: 'by-v' });
      stream.join(b.table('t'), (v) => v);
      stream.join(b.table('u'), (v) => v);
    };
    expect(topics(joins)).toEqual(['by-v-repartition']);
  });

  it('are refused when two groupings have one name', () => {
    const twice = (b: StreamsBuilder) => {
      b.stream('a')
        .groupBy((v) => v, { name: 'x' })
        .count();
      b.stream('b')
        .groupBy((v) => v, { name: 'x' })
        .count();
    };
    expect(codeOf(() => topics(twice))).toBe('MILL_TOPOLOGY_DUPLICATE_NAME');
  });

  it('are read from the start and with the records’ own times, whatever the app’s defaults', () => {
    const builder = new StreamsBuilder();
    builder.stream('in').repartition({ name: 'r' });
    expect(builder.build().nodes.get('r-repartition-source')).toMatchObject({
      offsetReset: 'earliest',
      timestampExtractor: { name: 'failOnInvalidTimestamp' },
    });
  });
});

describe('sources', () => {
  it('of the same topics are one, whatever their order', () => {
    const builder = new StreamsBuilder();
    builder.stream(['a', 'b']).to('x');
    builder.stream(['b', 'a']).to('y');
    const topology = builder.build();
    expect([...topology.nodes.values()].filter(({ kind }) => kind === 'source')).toHaveLength(1);
    expect(topology.subTopologies).toHaveLength(1);
  });

  it('that are one are co-partitioned as one', () => {
    const builder = new StreamsBuilder();
    builder.stream('a').to('x');
    builder
      .stream('a')
      .join(builder.table('t'), (value) => value)
      .to('y');
    expect(builder.build().copartitionGroups).toEqual([
      [
        { name: 'a', internal: false },
        { name: 't', internal: false },
      ],
    ]);
  });

  it('are refused when they overlap, or read the same topics in different ways', () => {
    const build = (declare: (builder: StreamsBuilder) => void) => () => {
      const builder = new StreamsBuilder();
      declare(builder);
      return builder.build();
    };
    const overlapping = build((b) => [b.stream('a'), b.stream(['a', 'b'])]);
    expect(overlapping).toThrow(/overlapping but not equal topics \(a and a, b\)/);
    expect(codeOf(overlapping)).toBe('MILL_TOPOLOGY_INVALID');
    expect(build((b) => [b.stream('a', { offsetReset: 'latest' }), b.stream('a')])).toThrow(/different offsetReset/);
    const hour = { duration: 3_600_000 };
    expect(build((b) => [b.stream('a', { offsetReset: hour }), b.stream('a', { offsetReset: { duration: 1 } })])).toThrow(
      /different offsetReset/,
    );
    expect(build((b) => [b.stream('a', { offsetReset: hour }), b.stream('a', { offsetReset: { ...hour } })])).not.toThrow();
    expect(build((b) => [b.stream('a', { valueSerde: string }), b.stream('a', { valueSerde: int32 })])).toThrow(/different valueSerde/);
    expect(codeOf(build((b) => [b.stream('a'), b.table('a')]))).toBe('MILL_TOPOLOGY_DUPLICATE_NAME');
    expect(codeOf(build((b) => [b.table('a'), b.globalTable('a')]))).toBe('MILL_TOPOLOGY_DUPLICATE_NAME');
    expect(codeOf(build((b) => b.stream([])))).toBe('MILL_TOPOLOGY_INVALID');
  });
});

describe('tables', () => {
  it('have a store when it is named or a join looks into it', () => {
    const stores = (declare: (builder: StreamsBuilder) => void) => {
      const builder = new StreamsBuilder();
      declare(builder);
      return [...builder.build().stores.keys()];
    };
    expect(stores((b) => b.table('t').toStream().to('out'))).toEqual([]);
    expect(stores((b) => b.table('t', { materialized: { storeName: 's' } }))).toEqual(['s']);
    expect(stores((b) => b.stream('in').join(b.table('t'), (v) => v))).toEqual(['t-STATE-STORE-0000000001']);
    expect(stores((b) => b.stream('in').leftJoin(b.stream('u').toTable(), (v) => v))).toEqual(['KSTREAM-TOTABLE-STATE-STORE-0000000003']);
  });

  it('tell the name by which they can be queried', () => {
    const builder = new StreamsBuilder();
    expect(builder.table('t').storeName).toBeNull();
    expect(builder.table('u', { materialized: { storeName: 's' } }).storeName).toBe('s');
    expect(builder.globalTable('g', { materialized: { storeName: 'gs' } }).storeName).toBe('gs');
  });

  it('are written where the key’s windows are kept together', () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', typed)
      .groupByKey()
      .windowedBy(tumbling({ size: 10 }))
      .count()
      .toStream()
      .to('out');
    const { partitioner } = sink(builder.build());
    const bytes = (start: number) => Buffer.concat([Buffer.from('key'), Buffer.from([0, 0, 0, 0, 0, 0, 0, start])]);
    const partitions = [0, 10, 20, 30].map((start) => partitioner?.partition('out', null, null, 1000, bytes(start)));
    expect(new Set(partitions).size).toBe(1);
  });

  it('count one number more for a count whose store has options but no name, as Kafka Streams does', () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in')
      .groupByKey()
      .count({ materialized: { keySerde: string } });
    expect([...builder.build().stores.keys()]).toEqual(['KSTREAM-AGGREGATE-STATE-STORE-0000000002']);
  });
});

describe('explicitNames', () => {
  const declare = () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in')
      .groupBy((v) => v)
      .count();
    builder
      .stream('in')
      .selectKey((v) => v)
      .join(builder.table('t'), (v) => v)
      .to('out');
    return builder;
  };

  it('lists everything that lacks a name when names are required', () => {
    const build = () => declare().build({ explicitNames: 'require' });
    expect(codeOf(build)).toBe('MILL_TOPOLOGY_NAME_REQUIRED');
    expect(build).toThrow(/repartition topic KSTREAM-AGGREGATE-STATE-STORE-0000000002-repartition/);
    expect(build).toThrow(/store KSTREAM-AGGREGATE-STATE-STORE-0000000002 of KSTREAM-AGGREGATE-0000000003/);
    expect(build).toThrow(/repartition topic KSTREAM-KEY-SELECT-0000000008-repartition/);
    expect(build).toThrow(/store t-STATE-STORE-0000000009 of KTABLE-SOURCE-0000000011/);
  });

  it('names the option that gives the name: of suppress and of operators with state it is `name`', () => {
    const builder = new StreamsBuilder();
    const watermarked = { keySerde: serdes.string, watermarks: watermarks.monotonous() };
    builder.table('t', { materialized: { storeName: 's' } }).suppress(untilTimeLimit(5));
    builder
      .stream('in', watermarked)
      .keyBy()
      .process(() => ({ process: () => undefined }));
    builder
      .stream('in', watermarked)
      .keyBy()
      .window(tumblingEventTime({ size: 5 }))
      .reduce((sum) => sum);
    const build = () => builder.build({ explicitNames: 'require' });
    expect(build).toThrow(/of KTABLE-SUPPRESS-\d+ \(set `name`\)/);
    expect(build).toThrow(/of KSTREAM-KEYED-PROCESSOR-\d+ \(set `name`\)/);
    expect(build).not.toThrow(/storeName/);
  });

  it('warns, or says nothing', () => {
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (_, message) => warnings.push(message) };
    declare().build({ explicitNames: 'warn', logger });
    expect(warnings).toHaveLength(1);
    declare().build({ logger });
    expect(warnings).toHaveLength(1);
  });

  it('is content when stores and topics are named; other operators need no name', () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in')
      .mapValues((v) => v)
      .groupBy((v) => v, { name: 'g' })
      .count({ materialized: { storeName: 's' } })
      .toStream()
      .to('out');
    builder.table('unused').toStream().to('out2');
    expect(() => builder.build({ explicitNames: 'require' })).not.toThrow();
  });
});

describe('what is refused', () => {
  it('a supplier that gives one processor to all tasks', () => {
    const one = new Discard();
    const attempt = () => new StreamsBuilder().stream('in').process(() => one, { name: 'p' });
    expect(attempt).toThrow(/Processor p has a supplier that gives the same object/);
    expect(codeOf(attempt)).toBe('MILL_TOPOLOGY_INVALID');
  });

  it('a store that was not added, or that nobody uses', () => {
    const builder = new StreamsBuilder();
    builder.stream('in').process(() => new Discard(), { stores: ['s'] });
    expect(codeOf(() => builder.build())).toBe('MILL_TOPOLOGY_UNKNOWN_STORE');
    builder.addStateStore(keyValueStore({ name: 's' }));
    expect(builder.build().stores.get('s')?.processors).toEqual(['KSTREAM-PROCESSOR-0000000001']);
    expect(codeOf(() => builder.addStateStore(keyValueStore({ name: 'idle' })).build())).toBe('MILL_TOPOLOGY_STORE_NOT_CONNECTED');
  });

  it('two operators of one name, and names that no topic can have', () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in')
      .filter(() => true, { name: 'x' })
      .filter(() => true, { name: 'x' });
    expect(codeOf(() => builder.build())).toBe('MILL_TOPOLOGY_DUPLICATE_NAME');
    expect(codeOf(() => builder.stream('in').filter(() => true, { name: 'a b' }))).toBe('MILL_TOPOLOGY_INVALID');
    expect(codeOf(() => builder.table('t', { materialized: { storeName: 'a/b' } }))).toBe('MILL_TOPOLOGY_INVALID');
  });

  it('streams and tables of another builder', () => {
    const here = new StreamsBuilder().stream('in');
    const there = new StreamsBuilder();
    for (const attempt of [
      () => here.merge(there.stream('in')),
      () => here.join(there.table('t'), (v) => v),
      () => here.join(there.globalTable('g'), (v) => v, { keyOf: () => null }),
    ]) {
      expect(codeOf(attempt)).toBe('MILL_TOPOLOGY_INVALID');
    }
  });

  it('a branch twice, or after the end', () => {
    const split = new StreamsBuilder().stream('in').split();
    split.branch(() => true, { name: 'a' });
    expect(codeOf(() => split.branch(() => true, { name: 'a' }))).toBe('MILL_TOPOLOGY_DUPLICATE_NAME');
    split.noDefaultBranch();
    expect(codeOf(() => split.branch(() => true))).toBe('MILL_TOPOLOGY_INVALID');
  });
});

describe('build', () => {
  it('writes a table before the join that looks into it, also when the table’s repartition is shared later', () => {
    const builder = new StreamsBuilder();
    const grouped = builder.stream('in').groupBy((v) => v, { name: 'g' });
    const counts = grouped.count({ materialized: { storeName: 'counts' } });
    builder
      .stream('other')
      .join(counts, (v) => v, { name: 'look' })
      .to('out');
    grouped.reduce((a) => a);
    expect(builder.build().stores.get('counts')?.processors).toHaveLength(2);
  });

  it('gives an equal topology each time, and can be called while the builder grows', () => {
    const builder = new StreamsBuilder();
    const stream = builder.stream('in');
    stream.groupByKey().count();
    const first = builder.build().describe();
    expect(builder.build().describe()).toBe(first);
    stream.to('out');
    expect(builder.build().describe()).not.toBe(first);
  });
});
