/** The topologies of conformance/cases/kafka-streams/naming.json in our DSL, by their names there. */
import type { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { joinWindows } from '../../src/time/join-windows.js';

const windows = joinWindows({ before: 10, after: 10 });
const first = (value: unknown): unknown => value;

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
  'stream-stream inner join': (builder) => {
    const [left, right] = [builder.stream('l'), builder.stream('r')];
    left.join(right, first, { windows }).to('out');
  },
  'stream-stream left join': (builder) => {
    const [left, right] = [builder.stream('l'), builder.stream('r')];
    left.leftJoin(right, first, { windows }).to('out');
  },
  'stream-stream inner join of rekeyed, named': (builder) => {
    const [left, right] = [rekeyed(builder, 'l'), rekeyed(builder, 'r')];
    left.join(right, first, { windows, name: 'my-join', storeName: 'my-join-store' }).to('out');
  },
  'stream-stream outer join, named': (builder) => {
    const [left, right] = [builder.stream('l'), builder.stream('r')];
    left.outerJoin(right, first, { windows, name: 'my-join', storeName: 'my-join-store' }).to('out');
  },
  'stream self join': (builder) => {
    const stream = builder.stream('in');
    stream.join(stream, first, { windows }).to('out');
  },
  'table-table inner join': (builder) => {
    const [left, right] = [builder.table('l'), builder.table('r')];
    left.join(right, first).toStream().to('out');
  },
  'table-table fk join': (builder) => {
    const [left, right] = [builder.table('l'), builder.table('r')];
    left.join(right, first, { foreignKey: first }).toStream().to('out');
  },
  'table-table fk join named': (builder) => {
    const [left, right] = [builder.table('l'), builder.table('r')];
    left
      .join(right, first, { name: 'fk', materialized: { storeName: 'res' }, foreignKey: first })
      .toStream()
      .to('out');
  },
  'toTable after rekey': (builder) => rekeyed(builder).toTable().toStream().to('out'),
};

function rekeyed(builder: StreamsBuilder, topic = 'in') {
  return builder.stream(topic).selectKey((value) => value);
}

/** Rows whose operators are not built yet. */
export const laterTopologies: readonly string[] = ['table groupBy count', 'windowed count suppress', 'cogroup'];
