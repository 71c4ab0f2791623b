/** The topologies that rows of names are about, by the names that the rows call them. */
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KStream } from '../../src/dsl/kstream.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { Topology } from '../../src/topology/nodes.js';
import { NotBuiltError } from '../case.js';

type Declare = (builder: StreamsBuilder, input: (topic: string) => KStream<string, string>) => void;

const consumed = { keySerde: serdes.string, valueSerde: serdes.string };
const rekeyed = { keySerde: serdes.string };

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
};

/** Rows about operators that are not there, by the operator. */
const missing: Readonly<Record<string, string | undefined>> = {
  'table groupBy count': 'table groupBy',
  'stream-stream inner join': 'stream–stream join',
  'stream-stream left join': 'stream–stream join',
  'stream-stream inner join of rekeyed, named': 'stream–stream join',
  'stream-stream outer join, named': 'stream–stream join',
  'stream self join': 'stream–stream join',
  'table-table inner join': 'table–table join',
  'table-table fk join': 'table–table foreign-key join',
  'table-table fk join named': 'table–table foreign-key join',
  'windowed count suppress': 'suppress',
  cogroup: 'cogroup',
};

export function buildNamedTopology(name: string): Topology {
  const declare = declarations[name];
  if (declare === undefined) throw new NotBuiltError(missing[name] ?? `topology ${name}`);
  const builder = new StreamsBuilder();
  declare(builder, (topic) => builder.stream(topic, consumed));
  return builder.build();
}
