import { serdes, sessions, sliding, tumbling, untilTimeLimit, untilWindowCloses, type KTable, type Windowed } from 'millrace';
import { flush, type Family } from './family.js';
import { events, halves } from './join-families.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

const sessionWindows: Family = {
  name: 'sessions',
  inputs: ['input'],
  outputs: { updates: 'sequences', finals: 'sequences', commits: 'rows' },
  declare(builder, topic) {
    const grouped = builder
      .stream(topic('input'), strings)
      .groupByKey()
      .windowedBy(sessions({ gap: 40, grace: 50 }));
    const valueSerde = serdes.string;
    for (const [name, emit] of [
      ['updates', 'onUpdate'],
      ['finals', 'onWindowClose'],
      ['commits', 'onCommit'],
    ] as const) {
      const table = grouped.aggregate(
        () => '',
        (all: string, value) => `${all},${value}`,
        (one, other) => `${one}&${other}`,
        { emit, materialized: { storeName: `session-${name}`, valueSerde } },
      );
      writeWindowed(table, topic(name));
    }
  },
  phases: [...halves(events(20, ['input'], 200)), flush('input')],
};

const slidingWindows: Family = {
  name: 'sliding',
  inputs: ['input'],
  outputs: { updates: 'sequences', finals: 'sequences', commits: 'rows' },
  declare(builder, topic) {
    const grouped = builder
      .stream(topic('input'), strings)
      .groupByKey()
      .windowedBy(sliding({ timeDifference: 40, grace: 50 }));
    for (const [name, emit] of [
      ['updates', 'onUpdate'],
      ['finals', 'onWindowClose'],
      ['commits', 'onCommit'],
    ] as const)
      writeWindowed(grouped.count({ emit, materialized: { storeName: `sliding-${name}` } }), topic(name));
  },
  phases: [...halves(events(21, ['input'], 200)), flush('input')],
};

const suppressed: Family = {
  name: 'suppress',
  inputs: ['input'],
  outputs: { finals: 'sequences', committed: 'sequences', limited: 'sequences' },
  declare(builder, topic) {
    const grouped = builder.stream(topic('input'), strings).groupByKey();
    const windows = tumbling({ size: 30, grace: 40 });
    for (const [name, emit] of [
      ['finals', 'onUpdate'],
      ['committed', 'onCommit'],
    ] as const) {
      const table = grouped.windowedBy(windows).count({ emit, materialized: { storeName: `windows-${name}` } });
      writeWindowed(table.suppress(untilWindowCloses(), { name: `suppress-${name}` }), topic(name));
    }
    grouped
      .count({ emit: 'onUpdate', materialized: { storeName: 'counts' } })
      .suppress(untilTimeLimit(100), { name: 'suppress-limited' })
      .toStream()
      .mapValues(String, { valueSerde: serdes.string })
      .to(topic('limited'));
  },
  phases: [...halves(events(22, ['input'], 200)), flush('input')],
};

const groupedTable: Family = {
  name: 'table-group',
  inputs: ['rows'],
  outputs: { totals: 'rows' },
  declare(builder, topic) {
    builder
      .table(topic('rows'), strings)
      .groupBy((value) => [`group-${Number(value) % 5}`, value], { ...strings, name: 'by-group' })
      .aggregate(
        () => ({ rows: 0, total: 0 }),
        ({ rows, total }, value) => ({ rows: rows + 1, total: total + Number(value) }),
        // Which groups were empty for a moment depends on what a commit takes together: those that are empty have no row.
        ({ rows, total }, value) => (rows === 1 ? null : { rows: rows - 1, total: total - Number(value) }),
        { materialized: { storeName: 'totals', valueSerde: serdes.json() } },
      )
      .toStream()
      .to(topic('totals'));
  },
  phases: halves(events(23, ['rows'], 240).map((given, i) => (i % 6 === 5 ? { ...given, value: null } : given))),
};

export const windowFamilies: readonly Family[] = [sessionWindows, slidingWindows, suppressed, groupedTable];

/** As texts: `[key@start/end]` and the value. */
export function writeWindowed<V>(table: KTable<Windowed<string>, V>, topic: string): void {
  table
    .toStream()
    .map((value: V | null, key) => [String(key), value === null ? null : String(value)], strings)
    .to(topic);
}
