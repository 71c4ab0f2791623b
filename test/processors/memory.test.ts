/** Windowed operators over a long time: what they hold in memory is that of the windows still open, however many there were. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { tumbling } from '../../src/time/time-windows.js';
import { untilWindowCloses } from '../../src/dsl/suppressed.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const minute = 60_000;
const keys = ['a', 'b', 'c', 'd', 'e'];

type Declare = (builder: StreamsBuilder) => void;

const counted =
  (emit: 'onUpdate' | 'onCommit' | 'onWindowClose'): Declare =>
  (builder) =>
    void builder
      .stream('in', strings)
      .groupByKey()
      .windowedBy(tumbling({ size: minute, grace: minute }))
      .count({ emit });

const operators: Readonly<Record<string, Declare>> = {
  'a tumbling count, on update': counted('onUpdate'),
  'a tumbling count, on commit': counted('onCommit'),
  'a tumbling count, when windows close': counted('onWindowClose'),
  'final results of a tumbling count': (builder) =>
    void builder
      .stream('in', strings)
      .groupByKey()
      .windowedBy(tumbling({ size: minute, grace: minute }))
      .count()
      .suppress(untilWindowCloses()),
  'a session count': (builder) =>
    void builder
      .stream('in', strings)
      .groupByKey()
      .windowedBy(sessions({ gap: minute / 2, grace: minute }))
      .count(),
  'a session count, when sessions close': (builder) =>
    void builder
      .stream('in', strings)
      .groupByKey()
      .windowedBy(sessions({ gap: minute / 2, grace: minute }))
      .count({ emit: 'onWindowClose' }),
  'a sliding count': (builder) =>
    void builder
      .stream('in', strings)
      .groupByKey()
      .windowedBy(sliding({ timeDifference: minute / 2, grace: minute }))
      .count(),
  'an outer join of two streams': (builder) =>
    void builder.stream('in', strings).outerJoin(builder.stream('other', strings), (left, right) => `${left} ${right}`, {
      windows: joinWindows({ before: minute, after: minute, grace: minute }),
    }),
  'a join with a versioned table, after a grace': (builder) =>
    void builder
      .stream('in', strings)
      .join(
        builder.table('other', { ...strings, materialized: { storeName: 'versions', historyRetention: 4 * minute } }),
        (left, right) => `${left} ${right}`,
        { grace: minute },
      ),
};

describe('rows in memory stay as many after a thousand windows as after a hundred', () => {
  it.each(Object.entries(operators))('%s', async (_name, declare) => {
    const builder = new StreamsBuilder();
    declare(builder);
    const topology = builder.build();
    await using driver = new TopologyTestDriver(topology);
    const topics = (topology.subTopologies[0]?.sourceTopics ?? []).map(({ name }) => driver.inputTopic(name, strings));
    const names = [...topology.stores.keys()];
    let early = 0;
    let late = 0;
    for (let window = 0; window < 1000; window++) {
      for (const key of keys)
        for (const topic of topics)
          // A key in four has no partner in this window, and is not in it twice.
          if (topic.name === 'in' || (window + keys.indexOf(key)) % 4 > 0)
            await topic.pipe(key, 'x', { timestamp: window * minute + keys.indexOf(key) });
      let held = 0;
      for (const name of names) held += elementsIn(await driver.store(name));
      if (window < 100) early = Math.max(early, held);
      if (window >= 900) late = Math.max(late, held);
    }
    expect(early).toBeGreaterThan(0);
    expect(late).toBeLessThanOrEqual(early);
  });
});

/** Elements of all maps, sets and lists that a store refers to: its rows, what they hold, and every index over them. */
function elementsIn(store: object): number {
  const seen = new Set<unknown>();
  const open: unknown[] = [store];
  let elements = 0;
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next) || seen.has(next)) continue;
    seen.add(next);
    if (next instanceof Map || next instanceof Set) elements += next.size;
    else if (Array.isArray(next)) elements += next.length;
    if (next instanceof Map) for (const key of next.keys() as Iterable<unknown>) open.push(key);
    const inside: Iterable<unknown> = next instanceof Map || next instanceof Set ? next.values() : Object.values(next);
    for (const each of inside) open.push(each);
  }
  return elements;
}
