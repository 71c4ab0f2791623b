/** The kinds of joins and windows that the other families leave out, and what lies between operators. */
import { hopping, joinWindows, serdes, stores, tumbling } from 'millrace';
import type { KeyValueStore, KStream, KTable, ProcessingContext, ValueTransformer } from 'millrace';
import { flush, type Family } from './family.js';
import { events, halves, rows } from './join-families.js';
import { writeWindowed } from './window-families.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const valueSerde = serdes.string;
const both = (one: string | null, other: string | null): string => `${one ?? '-'} ${other ?? '-'}`;

const streamJoins: Family = {
  name: 'stream-joins',
  inputs: ['left', 'right'],
  outputs: { inner: 'records', outer: 'records', self: 'records' },
  declare(builder, topic) {
    const [left, right] = [builder.stream(topic('left'), strings), builder.stream(topic('right'), strings)];
    // Which rows of the two topics meet is the same in every order as long as none of them expires before the end.
    const narrow = joinWindows({ before: 200, after: 20, grace: 10_000 });
    const wide = joinWindows({ before: 5000, after: 5000, grace: 1000 });
    left.join(right, both, { windows: narrow, storeName: 'inner-pairs', valueSerde }).to(topic('inner'));
    left.leftJoin(right, both, { windows: wide, storeName: 'left-pairs', valueSerde }).to(topic('outer'));
    left.join(left, both, { windows: narrow, storeName: 'self-pairs', valueSerde }).to(topic('self'));
  },
  phases: [...halves(events(30, ['left', 'right'], 160, 40)), [...flush('left'), ...flush('right')]],
};

const tableJoins: Family = {
  name: 'table-joins',
  inputs: ['left', 'right'],
  outputs: { inner: 'rows', all: 'rows', chained: 'rows' },
  declare(builder, topic) {
    const [left, right] = [builder.table(topic('left'), strings), builder.table(topic('right'), strings)];
    const inner = left.join(right, both, { materialized: { storeName: 'inner-joined', valueSerde } });
    inner.toStream().to(topic('inner'));
    left
      .leftJoin(right, both, { materialized: { storeName: 'left-joined', valueSerde } })
      .toStream()
      .to(topic('all'));
    inner
      .outerJoin(right, both, { materialized: { storeName: 'chain-joined', valueSerde } })
      .toStream()
      .to(topic('chained'));
  },
  phases: halves(rows(31, ['left', 'right'], 160)),
};

const globalJoin: Family = {
  name: 'global-table',
  inputs: ['stream', 'table'],
  outputs: { inner: 'sequences', left: 'sequences' },
  declare(builder, topic) {
    const table = builder.globalTable(topic('table'), { ...strings, materialized: { storeName: 'everywhere' } });
    const stream = builder.stream(topic('stream'), strings);
    const keyOf = (value: string): string => `key-${Number(value) % 11}`;
    stream.join(table, both, { keyOf, valueSerde }).to(topic('inner'));
    stream.leftJoin(table, both, { keyOf, valueSerde }).to(topic('left'));
  },
  global: ['table'],
  before: rows(32, ['table'], 60),
  phases: halves(events(33, ['stream'], 120)),
};

const timeWindows: Family = {
  name: 'time-windows',
  inputs: ['input'],
  outputs: { updates: 'sequences', finals: 'sequences', commits: 'rows', tumbling: 'sequences' },
  declare(builder, topic) {
    const grouped = builder.stream(topic('input'), strings).groupByKey();
    const hops = grouped.windowedBy(hopping({ size: 60, advance: 25, grace: 50 }));
    for (const [name, emit] of [
      ['updates', 'onUpdate'],
      ['finals', 'onWindowClose'],
      ['commits', 'onCommit'],
    ] as const)
      writeWindowed(hops.count({ emit, materialized: { storeName: `hopping-${name}` } }), topic(name));
    const all = (before: string, value: string): string => `${before},${value}`;
    const blocks = grouped.windowedBy(tumbling({ size: 50, grace: 50 }));
    writeWindowed(blocks.reduce(all, { emit: 'onUpdate', materialized: { storeName: 'blocks', valueSerde } }), topic('tumbling'));
  },
  phases: [...halves(events(34, ['input'], 200)), flush('input')],
};

const cogrouped: Family = {
  name: 'cogroup',
  inputs: ['one', 'two'],
  outputs: { sums: 'rows', windows: 'rows' },
  declare(builder, topic) {
    const [one, two] = ['one', 'two'].map((name) => builder.stream(topic(name), strings).groupByKey()) as [Grouped, Grouped];
    const sums = one.cogroup((sum: number, value) => sum + Number(value)).cogroup(two, (sum, value) => sum - Number(value));
    const totals = sums.aggregate(() => 0, { materialized: { storeName: 'cogroup-sums', valueSerde: serdes.json<number>() } });
    printed(totals).toStream().to(topic('sums'));
    const windows = sums.windowedBy(tumbling({ size: 300, grace: 10_000 }));
    writeWindowed(
      windows.aggregate(() => 0, { materialized: { storeName: 'cogroup-windows', valueSerde: serdes.json<number>() } }),
      topic('windows'),
    );
  },
  phases: halves(events(35, ['one', 'two'], 200)),
};

type Grouped = ReturnType<KStream<string, string>['groupByKey']>;

const rekeyed: Family = {
  name: 'rekeyed',
  inputs: ['one', 'two'],
  outputs: { branches: 'records', counts: 'rows', sums: 'rows' },
  declare(builder, topic) {
    const merged = builder.stream(topic('one'), strings).merge(builder.stream(topic('two'), strings));
    const { odd, '0': even } = merged
      .split({ name: 'by-parity-' })
      .branch((value) => Number(value) % 2 === 1, { name: 'odd' })
      .defaultBranch();
    odd
      .flatMapValues((value) => [value, `${value}!`], { valueSerde })
      .repartition({ name: 'odd-ones', ...strings })
      .to(topic('branches'), strings);
    // Two groupings of one stream with new keys: with `mergeRepartitions`, one topic.
    const tens = even.selectKey((value) => `tens-${Math.floor(Number(value) / 10)}`, { keySerde: serdes.string });
    const counts = tens.groupByKey(strings).count({ materialized: { storeName: 'tens-counts' } });
    printed(counts).toStream().to(topic('counts'));
    const sums = tens.groupByKey(strings).aggregate(
      () => 0,
      (sum: number, value) => sum + Number(value),
      { materialized: { storeName: 'tens-sums', valueSerde: serdes.json<number>() } },
    );
    printed(sums).toStream().to(topic('sums'));
  },
  phases: halves(events(36, ['one', 'two'], 160)),
};

/** Numbers the changes of each row, in a store. */
class Numbered implements ValueTransformer<string, string, string> {
  declare private changes: KeyValueStore<string, number>;

  init(context: ProcessingContext): void {
    this.changes = context.store('row-changes', 'keyValue');
  }

  transform(value: string | null, key: string): string {
    const change = (this.changes.get(key) ?? 0) + 1;
    this.changes.put(key, change);
    return `${value ?? 'gone'} #${change}`;
  }
}

const transformed: Family = {
  name: 'transformed-table',
  inputs: ['rows'],
  outputs: { numbered: 'sequences' },
  declare(builder, topic) {
    const changes = stores.keyValue({ name: 'row-changes', keySerde: serdes.string, valueSerde: serdes.int32 });
    builder
      .table(topic('rows'), { ...strings, emit: 'onUpdate', materialized: { storeName: 'transformed-rows' } })
      .transformValues(() => new Numbered(), { stores: [changes], valueSerde, materialized: { storeName: 'numbered-rows' } })
      .toStream()
      .to(topic('numbered'));
  },
  phases: halves(rows(37, ['rows'], 160)),
};

export const moreFamilies: readonly Family[] = [streamJoins, tableJoins, globalJoin, timeWindows, cogrouped, rekeyed, transformed];

function printed(table: KTable<string, number>): KTable<string, string> {
  return table.mapValues(String, { valueSerde });
}
