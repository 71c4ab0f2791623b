/** The topologies of kafka-streams-descriptions.json in our DSL, by their names there. */
import type { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { Processor } from '../../src/processors/processor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { keyValueStore } from '../../src/stores/store-builders.js';
import { hopping, tumbling } from '../../src/time/time-windows.js';

class Discard implements Processor<unknown, unknown> {
  process(): void {
    // Nothing is forwarded.
  }
}

const yes = () => true;
const same = <T>(value: T): T => value;
const pair = (value: unknown, key: unknown) => [key, value] as const;
const tenMs = tumbling({ size: 10 });

export const describedTopologies: Readonly<Record<string, (builder: StreamsBuilder) => unknown>> = {
  'word count': (b) =>
    b
      .stream('lines')
      .flatMapValues((value) => [value])
      .groupBy(same, { name: 'by-word' })
      .count({ materialized: { storeName: 'counts' } })
      .toStream()
      .to('out'),
  'every stateless operator': (b) =>
    b
      .stream('in')
      .filter(yes)
      .filterNot(yes)
      .map(pair)
      .mapValues(same)
      .flatMap((value, key) => [pair(value, key)])
      .flatMapValues((value) => [value])
      .selectKey(same)
      .peek(yes)
      .foreach(yes),
  'a shared source with two branches of work': (b) => {
    b.stream('in').mapValues(same).to('x');
    b.stream('in').filter(yes, { name: 'keep' }).to('y');
  },
  'named grouping aggregated twice, other work between': (b) => {
    const grouped = b.stream('in').groupBy(same, { name: 'g' });
    grouped
      .count({ materialized: { storeName: 'c' } })
      .toStream()
      .to('counts');
    b.stream('other').to('copy');
    grouped.reduce(same).toStream().to('reduced');
  },
  'unnamed grouping aggregated twice': (b) => {
    const grouped = b.stream('in').groupBy(same);
    grouped.count().toStream().to('counts');
    grouped
      .aggregate(() => '', same)
      .toStream()
      .to('aggregated');
  },
  'count with store options but no name': (b) =>
    b
      .stream('in')
      .groupByKey()
      .count({ materialized: { engine: 'memory' } })
      .toStream()
      .to('out'),
  windows: (b) => {
    const grouped = b.stream('in').groupByKey();
    grouped.windowedBy(tenMs).count().toStream().to('a');
    grouped
      .windowedBy(hopping({ size: 10, advance: 5 }))
      .reduce(same, { materialized: { storeName: 'w' } })
      .toStream()
      .to('b');
    grouped
      .windowedBy(tenMs)
      .count({ name: 'named', materialized: { engine: 'memory' } })
      .toStream({ name: 'named-stream' })
      .to('c', { name: 'named-sink' });
  },
  'stream joined with two tables': (b) => {
    const stream = b.stream('in');
    const first = b.table('t1');
    const second = b.table('t2', { materialized: { storeName: 't2-store' } });
    stream.join(first, same).leftJoin(second, same).to('out');
  },
  'rekeyed stream joined twice': (b) => {
    const stream = b.stream('in').selectKey(same);
    stream.join(b.table('t1'), same).to('a');
    stream.leftJoin(b.table('t2'), same).to('b');
  },
  'rekeyed stream joined twice, named': (b) => {
    const stream = b.stream('in').selectKey(same);
    stream.join(b.table('t1'), same, { name: 'one' }).to('a');
    stream.leftJoin(b.table('t2'), same, { name: 'two' }).to('b');
  },
  'stream joined with its own counts': (b) => {
    const stream = b.stream('in');
    stream.join(stream.groupByKey().count(), same).to('out');
  },
  'rekeyed stream joined with counts of a grouping': (b) => {
    const counts = b.stream('a').groupBy(same).count();
    b.stream('b').selectKey(same).leftJoin(counts, same).to('out');
  },
  'global table declared first': (b) => {
    const table = b.globalTable('g', { name: 'glob', materialized: { storeName: 'g-store' } });
    const stream = b.stream('in');
    stream.join(table, same, { keyOf: same }).to('a');
    stream.leftJoin(table, same, { keyOf: same, name: 'look' }).to('b');
  },
  'merge of three and a repartition': (b) =>
    b
      .stream('a')
      .merge(b.stream('b').mapValues(same))
      .merge(b.stream('c'), { name: 'all' })
      .repartition({ name: 'again' })
      .groupByKey()
      .count()
      .toStream()
      .to('out'),
  'merge of a stream with its own branch': (b) => {
    const stream = b.stream('in');
    stream.merge(stream.filter(yes)).to('out');
  },
  'named table': (b) => b.table('t', { name: 'rows' }).toStream().to('out'),
  'two repartitions in a row': (b) => b.stream('in').repartition().selectKey(same).repartition({ name: 'second', partitions: 3 }).to('out'),
  'toTable kept and joined': (b) => {
    const table = b.stream('u').toTable({ name: 'table', materialized: { storeName: 'kept' } });
    b.stream('in').join(table, same).to('out');
  },
  'processors that share a store': (b) => {
    b.addStateStore(keyValueStore({ name: 's', keySerde: serdes.string, valueSerde: serdes.string }));
    b.stream('a')
      .process(() => new Discard(), { stores: ['s'] })
      .to('out');
    b.stream('b').process(() => new Discard(), { name: 'named', stores: ['s'] });
  },
  'split without names': (b) => {
    const branches = b.stream('in').split().branch(yes).branch(yes, { name: '-two' }).defaultBranch();
    // The order in which Java's hash map gives the branches.
    branches['-two'].to('out');
    branches['0']?.to('out');
    branches['1']?.to('out');
  },
  diamond: (b) => {
    const stream = b.stream('in').mapValues(same);
    stream.filter(yes).merge(stream.filterNot(yes)).peek(yes).to('out');
    stream.to('raw');
  },
};
