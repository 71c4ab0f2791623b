/** The topologies of conformance/cases/kafka-streams/naming.json in our DSL, by their names there. */
import type { StreamsBuilder } from '../../src/dsl/streams-builder.js';

type Declare = (builder: StreamsBuilder) => void;

/** Operators of the rows that can be built by now. */
export const namingTopologies: Readonly<Record<string, Declare>> = {
  'stream-passthrough': (builder) =>
    builder
      .stream('in')
      .mapValues((value) => value)
      .to('out'),
  'groupByKey-count (no key change)': (builder) => builder.stream('in').groupByKey().count().toStream().to('out'),
  'selectKey-groupByKey-count': (builder) => rekeyed(builder).groupByKey().count().toStream().to('out'),
  'groupBy-count named': (builder) =>
    builder
      .stream('in')
      .groupBy((value) => value, { name: 'by-value' })
      .count({ name: 'cnt', materialized: { storeName: 'cnt-store' } })
      .toStream()
      .to('out'),
  'two groupings of one rekeyed stream': (builder) => {
    const stream = rekeyed(builder);
    stream.groupByKey().count();
    stream.groupByKey().reduce((_, value) => value);
  },
  'table source': (builder) => builder.table('in').toStream().to('out'),
  'table source materialized': (builder) =>
    builder
      .table('in', { materialized: { storeName: 'tbl' } })
      .toStream()
      .to('out'),
  'stream-table join of rekeyed stream': (builder) => {
    const stream = rekeyed(builder, 'l');
    stream.join(builder.table('r'), (value) => value).to('out');
  },
  repartition: (builder) => builder.stream('in').repartition().to('out'),
  'repartition named 7': (builder) => builder.stream('in').repartition({ name: 'rep', partitions: 7 }).to('out'),
  'split-branch': (builder) => {
    const branches = builder
      .stream('in')
      .split({ name: 's-' })
      .branch(() => true, { name: 'a' })
      .branch(() => true)
      .defaultBranch();
    for (const branch of Object.values(branches)) branch.to('out');
  },
  'global table join': (builder) => {
    const stream = builder.stream('in');
    stream.join(builder.globalTable('g'), (value) => value, { keyOf: (value) => value }).to('out');
  },
  'toTable after rekey': (builder) => rekeyed(builder).toTable().toStream().to('out'),
};

function rekeyed(builder: StreamsBuilder, topic = 'in') {
  return builder.stream(topic).selectKey((value) => value);
}

/** Rows whose operators are not built yet. */
export const laterTopologies: readonly string[] = [
  'table groupBy count',
  'stream-stream inner join',
  'stream-stream left join',
  'stream-stream inner join of rekeyed, named',
  'stream-stream outer join, named',
  'stream self join',
  'table-table inner join',
  'table-table fk join',
  'table-table fk join named',
  'windowed count suppress',
  'cogroup',
];
