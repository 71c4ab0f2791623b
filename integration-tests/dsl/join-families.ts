import { joinWindows, serdes } from 'millrace';
import { Random } from '../faults/random.js';
import { at, flush, type Family, type Given } from './family.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const both = (one: string | null, other: string | null): string => `${one ?? '-'} ${other ?? '-'}`;

const outerStreamJoin: Family = {
  name: 'stream-stream',
  inputs: ['left', 'right'],
  outputs: { joined: 'records' },
  declare(builder, topic) {
    const [left, right] = [builder.stream(topic('left'), strings), builder.stream(topic('right'), strings)];
    // The windows cover all of the input but its end, since a record that finds its window in the past counts as unmatched at once (Kafka Streams' rule).
    const windows = joinWindows({ before: 5000, after: 5000, grace: 1000 });
    left.outerJoin(right, both, { windows, storeName: 'pairs', valueSerde: serdes.string }).to(topic('joined'));
  },
  phases: [...halves(events(1, ['left', 'right'], 240, 80)), [...flush('left'), ...flush('right')]],
};

const outerTableJoin: Family = {
  name: 'table-table',
  inputs: ['left', 'right'],
  outputs: { joined: 'rows' },
  declare(builder, topic) {
    const [left, right] = [builder.table(topic('left'), strings), builder.table(topic('right'), strings)];
    left
      .outerJoin(right, both, { materialized: { storeName: 'joined-rows', valueSerde: serdes.string } })
      .toStream()
      .to(topic('joined'));
  },
  phases: halves(rows(2, ['left', 'right'], 240)),
};

const foreignKeyJoin: Family = {
  name: 'foreign-key',
  inputs: ['orders', 'customers'],
  outputs: { inner: 'rows', left: 'rows' },
  declare(builder, topic) {
    const [orders, customers] = [builder.table(topic('orders'), strings), builder.table(topic('customers'), strings)];
    // An order's value is a number; the customer's key follows from it.
    const foreignKey = (order: string): string => `key-${Number(order) % 8}`;
    const valueSerde = serdes.string;
    orders
      .join(customers, both, { foreignKey, materialized: { storeName: 'inner-rows', valueSerde } })
      .toStream()
      .to(topic('inner'));
    orders
      .leftJoin(customers, both, { foreignKey, materialized: { storeName: 'left-rows', valueSerde } })
      .toStream()
      .to(topic('left'));
  },
  phases: halves(rows(3, ['orders', 'customers'], 240)),
};

const streamTableJoin: Family = {
  name: 'stream-table',
  inputs: ['stream', 'table'],
  outputs: { joined: 'sequences', seen: 'sequences' },
  declare(builder, topic) {
    const table = builder.table(topic('table'), { ...strings, emit: 'onUpdate' });
    // What the table took in, so that a run can wait for it.
    table.toStream().to(topic('seen'));
    builder.stream(topic('stream'), strings).leftJoin(table, both, { valueSerde: serdes.string }).to(topic('joined'));
  },
  phases: [rows(4, ['table'], 60), events(5, ['stream'], 60), rows(6, ['table'], 60), events(7, ['stream'], 60)],
};

const versionedJoin: Family = {
  name: 'versioned',
  inputs: ['stream', 'table'],
  outputs: { atOnce: 'sequences', waiting: 'sequences', seen: 'sequences' },
  declare(builder, topic) {
    const table = builder.table(topic('table'), { ...strings, materialized: { storeName: 'versions', historyRetention: 10_000 } });
    table.toStream().to(topic('seen'));
    const stream = builder.stream(topic('stream'), strings);
    stream.leftJoin(table, both, { valueSerde: serdes.string }).to(topic('atOnce'));
    stream.join(table, both, { grace: 200, name: 'waiting', valueSerde: serdes.string }).to(topic('waiting'));
  },
  phases: [rows(8, ['table'], 120), ...halves(events(9, ['stream'], 120)), flush('stream')],
};

export const joinFamilies: readonly Family[] = [outerStreamJoin, outerTableJoin, foreignKeyJoin, streamTableJoin, versionedJoin];

/** Records whose times move on by about 5 ms each and go back now and then. */
export function events(seed: number, topics: readonly string[], count: number, keys = 8): Given[] {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, i) => ({
    topic: random.pick(topics),
    key: `key-${random.between(0, keys - 1)}`,
    value: String(i),
    timestamp: at(1000 + i * 5 + random.between(-60, 0)),
  }));
}

/** Changes of rows, one in five a deletion. */
export function rows(seed: number, topics: readonly string[], count: number): Given[] {
  const random = new Random(seed);
  return events(seed + 1000, topics, count).map((given, i) => ({
    ...given,
    value: random.next() < 0.2 ? null : given.value,
    timestamp: at(1000 + i * 5),
  }));
}

export function halves(given: readonly Given[]): Given[][] {
  const middle = given.length >> 1;
  return [given.slice(0, middle), given.slice(middle)];
}
