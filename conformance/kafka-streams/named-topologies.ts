/** The topologies that rows of names are about, by the names that the rows call them. */
import type { Optimization } from '../../src/dsl/graph/write-graph.js';
import type { KStream } from '../../src/dsl/kstream.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { untilWindowCloses } from '../../src/dsl/suppressed.js';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { tumbling } from '../../src/time/time-windows.js';
import type { Topology } from '../../src/topology/nodes.js';
import { NotBuiltError } from '../case.js';

type Declare = (builder: StreamsBuilder, input: (topic: string) => KStream<string, string>) => void;

const consumed = { keySerde: serdes.string, valueSerde: serdes.string };
const rekeyed = { keySerde: serdes.string };

const windows = joinWindows({ before: 10, after: 10 });
const concatenated = (left: string | null, right: string | null): string => `${left}${right}`;

const declarations: Readonly<Record<string, Declare | undefined>> = {
  'stream-passthrough': (_builder, input) => {
    input('in')
      .mapValues((value) => value)
      .to('out');
  },
  'groupByKey-count (no key change)': (_builder, input) => {
    input('in').groupByKey().count().toStream().to('out');
  },
  'selectKey-groupByKey-count': (_builder, input) => {
    input('in')
      .selectKey((value) => value, rekeyed)
      .groupByKey()
      .count()
      .toStream()
      .to('out');
  },
  'groupBy-count named': (_builder, input) => {
    input('in')
      .groupBy((value) => value, { name: 'by-value', ...rekeyed })
      .count({ name: 'cnt', materialized: { storeName: 'cnt-store' } })
      .toStream()
      .to('out');
  },
  'two groupings of one rekeyed stream': (_builder, input) => {
    const stream = input('in').selectKey((value) => value, rekeyed);
    stream.groupByKey().count();
    stream.groupByKey().reduce((aggregate) => aggregate);
  },
  'table source': (builder) => {
    builder.table('in', consumed).toStream().to('out');
  },
  'table source materialized': (builder) => {
    builder
      .table('in', { ...consumed, materialized: { storeName: 'tbl' } })
      .toStream()
      .to('out');
  },
  'stream-table join of rekeyed stream': (builder, input) => {
    const left = input('l').selectKey((value) => value, rekeyed);
    left.join(builder.table('r', consumed), (value) => value).to('out');
  },
  repartition: (_builder, input) => {
    input('in').repartition().to('out');
  },
  'repartition named 7': (_builder, input) => {
    input('in').repartition({ name: 'rep', partitions: 7 }).to('out');
  },
  'split-branch': (_builder, input) => {
    const branches = input('in')
      .split({ name: 's-' })
      .branch((value) => value === 'a', { name: 'a' })
      .branch((value) => value === 'b')
      .defaultBranch();
    for (const branch of Object.values(branches)) branch.to('out');
  },
  'global table join': (builder, input) => {
    const left = input('in');
    left.leftJoin(builder.globalTable('g', consumed), (value) => value, { keyOf: (_value, key) => key }).to('out');
  },
  'toTable after rekey': (_builder, input) => {
    input('in')
      .selectKey((value) => value, rekeyed)
      .toTable()
      .toStream()
      .to('out');
  },
  'table groupBy count': (builder) => {
    builder
      .table('in', consumed)
      .groupBy((value, key) => [value, key], consumed)
      .count()
      .toStream()
      .to('out');
  },
  'windowed count suppress': (_builder, input) => {
    input('in')
      .groupByKey()
      .windowedBy(tumbling({ size: 10 }))
      .count()
      .suppress(untilWindowCloses())
      .toStream()
      .selectKey((_value, key) => key.key, rekeyed)
      .to('out');
  },
  cogroup: (_builder, input) => {
    input('a')
      .groupByKey()
      .cogroup((all: string, value) => all + value)
      .cogroup(input('b').groupByKey(), (all, value) => all + value)
      .aggregate(() => '')
      .toStream()
      .to('out');
  },
  'stream-stream inner join': (_builder, input) => {
    const [left, right] = [input('l'), input('r')];
    left.join(right, concatenated, { windows }).to('out');
  },
  'stream-stream left join': (_builder, input) => {
    const [left, right] = [input('l'), input('r')];
    left.leftJoin(right, concatenated, { windows }).to('out');
  },
  'stream-stream inner join of rekeyed, named': (_builder, input) => {
    const left = input('l').selectKey((value) => value, rekeyed);
    const right = input('r').selectKey((value) => value, rekeyed);
    left.join(right, concatenated, { windows, name: 'my-join', storeName: 'my-join-store' }).to('out');
  },
  'stream-stream outer join, named': (_builder, input) => {
    const [left, right] = [input('l'), input('r')];
    left.outerJoin(right, concatenated, { windows, name: 'my-join', storeName: 'my-join-store' }).to('out');
  },
  'stream self join': (_builder, input) => {
    const both = input('in');
    both.join(both, concatenated, { windows }).to('out');
  },
  'table-table inner join': (builder) => {
    const [left, right] = [builder.table('l', consumed), builder.table('r', consumed)];
    left.join(right, concatenated).toStream().to('out');
  },
  'table-table fk join': (builder) => {
    const [left, right] = [builder.table('l', consumed), builder.table('r', consumed)];
    left
      .join(right, concatenated, { foreignKey: (value) => value })
      .toStream()
      .to('out');
  },
  'table-table fk join named': (builder) => {
    const [left, right] = [builder.table('l', consumed), builder.table('r', consumed)];
    const options = { name: 'fk', materialized: { ...consumed, storeName: 'res' }, foreignKey: (value: string) => value };
    left.join(right, concatenated, options).toStream().to('out');
  },
};

export function buildNamedTopology(name: string, optimizations: readonly Optimization[]): Topology {
  const declare = declarations[name];
  if (declare === undefined) throw new NotBuiltError(`topology ${name}`);
  const builder = new StreamsBuilder();
  declare(builder, (topic) => builder.stream(topic, consumed));
  return builder.build({ optimizations });
}
