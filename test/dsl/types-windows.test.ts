/** Types of windows, sessions, suppressed and grouped tables, as a user gets them without writing a type argument. The assertions are made by the compiler. */
import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { KGroupedTable } from '../../src/dsl/kgrouped-table.js';
import type { KStream } from '../../src/dsl/kstream.js';
import type { KTable } from '../../src/dsl/ktable.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { untilTimeLimit, untilWindowCloses } from '../../src/dsl/suppressed.js';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { tumbling } from '../../src/time/time-windows.js';
import type { Windowed } from '../../src/time/windowed.js';

interface Click {
  readonly page: string;
  readonly ms: number;
}
interface User {
  readonly name: string;
  readonly country: string;
}

const builder = new StreamsBuilder();
const clicks = builder.stream('clicks', { keySerde: serdes.int32, valueSerde: serdes.json<Click>() });
const users = builder.table('users', { keySerde: serdes.int32, valueSerde: serdes.json<User>() });
const bySession = clicks.groupByKey().windowedBy(sessions({ gap: 1000 }));
const bySliding = clicks.groupByKey().windowedBy(sliding({ timeDifference: 1000 }));
const byMinute = clicks.groupByKey().windowedBy(tumbling({ size: 60_000 }));

describe('types of sessions', () => {
  it('have windowed keys and the aggregate’s values', () => {
    expectTypeOf(bySession.count()).toEqualTypeOf<KTable<Windowed<number>, number>>();
    expectTypeOf(bySession.reduce((one, other) => (one.ms > other.ms ? one : other))).toEqualTypeOf<KTable<Windowed<number>, Click>>();
    const pages = bySession.aggregate(
      (): readonly string[] => [],
      (all, click, key) => {
        expectTypeOf(all).toEqualTypeOf<readonly string[]>();
        expectTypeOf(click).toEqualTypeOf<Click>();
        expectTypeOf(key).toEqualTypeOf<number>();
        return [...all, click.page];
      },
      (one, other) => [...one, ...other],
      { emit: 'onWindowClose', materialized: { valueSerde: serdes.json<readonly string[]>() } },
    );
    expectTypeOf(pages).toEqualTypeOf<KTable<Windowed<number>, readonly string[]>>();
    pages.toStream().foreach((value, key) => {
      expectTypeOf(value).toEqualTypeOf<readonly string[]>();
      expectTypeOf(key.key).toEqualTypeOf<number>();
      expectTypeOf(key.window.end).toEqualTypeOf<number>();
    });
  });

  it('take the aggregate’s type from the initializer, by promise too', () => {
    expectTypeOf(
      bySession.aggregate(
        async () => '',
        (all, click) => all + click.page,
        async (one, other) => one + other,
      ),
    ).toEqualTypeOf<KTable<Windowed<number>, string>>();
  });
});

describe('types of sliding windows', () => {
  it('are those of other windows', () => {
    expectTypeOf(bySliding.count()).toEqualTypeOf<KTable<Windowed<number>, number>>();
    expectTypeOf(
      bySliding.aggregate(
        () => 0,
        (sum, click) => sum + click.ms,
      ),
    ).toEqualTypeOf<KTable<Windowed<number>, number>>();
  });
});

describe('types of suppressed tables', () => {
  it('are those of the tables', () => {
    expectTypeOf(byMinute.count().suppress(untilWindowCloses())).toEqualTypeOf<KTable<Windowed<number>, number>>();
    expectTypeOf(users.suppress(untilTimeLimit(10, { maxRecords: 5 }))).toEqualTypeOf<KTable<number, User>>();
    const finals = byMinute.count().suppress(untilWindowCloses()).toStream();
    expectTypeOf(finals.selectKey((_, { key }) => key)).toEqualTypeOf<KStream<number, number>>();
  });
});

describe('types of cogrouped streams', () => {
  const moves = builder.stream('moves', { keySerde: serdes.int32, valueSerde: serdes.string });
  const cogrouped = clicks
    .groupByKey()
    .cogroup((sum: number, click) => sum + click.ms)
    .cogroup(moves.groupByKey(), (sum, move) => {
      expectTypeOf(sum).toEqualTypeOf<number>();
      expectTypeOf(move).toEqualTypeOf<string>();
      return sum + move.length;
    });

  it('are the aggregate’s, by window too', () => {
    expectTypeOf(cogrouped.aggregate(() => 0)).toEqualTypeOf<KTable<number, number>>();
    expectTypeOf(cogrouped.windowedBy(tumbling({ size: 5 })).aggregate(() => 0)).toEqualTypeOf<KTable<Windowed<number>, number>>();
    expectTypeOf(
      cogrouped.windowedBy(sessions({ gap: 5 })).aggregate(
        () => 0,
        (one, other) => one + other,
      ),
    ).toEqualTypeOf<KTable<Windowed<number>, number>>();
  });
});

describe('types of grouped tables', () => {
  const byCountry = users.groupBy((user, id) => [user.country, id], { keySerde: serdes.string, valueSerde: serdes.int32 });

  it('have the key and value that the mapper gives', () => {
    expectTypeOf(byCountry).toEqualTypeOf<KGroupedTable<string, number>>();
    expectTypeOf(byCountry.count()).toEqualTypeOf<KTable<string, number>>();
    expectTypeOf(
      byCountry.reduce(
        (sum, id) => sum + id,
        (sum, id) => sum - id,
      ),
    ).toEqualTypeOf<KTable<string, number>>();
    const lists = byCountry.aggregate(
      () => '',
      (all, id, country) => {
        expectTypeOf(id).toEqualTypeOf<number>();
        expectTypeOf(country).toEqualTypeOf<string>();
        return `${all},${id}`;
      },
      (all, id) => all.replace(`,${id}`, ''),
      { materialized: { valueSerde: serdes.string } },
    );
    expectTypeOf(lists).toEqualTypeOf<KTable<string, string>>();
  });
});

describe('the compiler refuses', () => {
  const zero = (): number => 0;
  const add = (sum: number, click: Click): number => sum + click.ms;
  const sum = (one: number, other: number): number => one + other;
  const text = (): string => '';
  const grouped = users.groupBy((user, id) => [user.country, id]);
  // Declared, never called: only the types matter.
  const wrong: readonly (() => unknown)[] = [
    // @ts-expect-error an aggregate of sessions without a merger
    () => bySession.aggregate(zero, add),
    // @ts-expect-error a merger of another type
    () => bySession.aggregate(zero, add, text),
    // @ts-expect-error an aggregator for other values
    () => bySession.aggregate(zero, (all: number, click: User) => all + click.name.length, sum),
    // @ts-expect-error a serde of another aggregate
    () => bySession.aggregate(zero, add, sum, { materialized: { valueSerde: serdes.string } }),
    // @ts-expect-error a serde of other keys
    () => bySession.count({ materialized: { keySerde: serdes.string } }),
    // @ts-expect-error sliding windows take no merger
    () => bySliding.aggregate(zero, add, sum),
    // @ts-expect-error a reducer that gives another type
    () => bySliding.reduce(text),
    // @ts-expect-error windows of a join group nothing
    () => clicks.groupByKey().windowedBy(joinWindows({ before: 1, after: 1 })),
    // @ts-expect-error suppress takes what `untilTimeLimit` and `untilWindowCloses` give
    () => users.suppress(10),
    // @ts-expect-error final results never leave early
    () => untilWindowCloses({ maxRecords: 1, whenFull: 'emitEarly' }),
    // @ts-expect-error streams are not suppressed
    () => 'suppress' satisfies keyof KStream<number, User>,
    // @ts-expect-error a grouped table needs a subtractor
    () => grouped.reduce(sum),
    // @ts-expect-error and takes away what it adds, of the same type
    () => grouped.aggregate(zero, sum, text),
    // @ts-expect-error a group's key and value are a pair
    () => users.groupBy((user) => user.country),
    // @ts-expect-error a serde that does not fit the group's key
    () => users.groupBy((user, id) => [user.country, id], { keySerde: serdes.int32, valueSerde: serdes.int32 }),
    // @ts-expect-error tables of groups close no windows
    () => grouped.count({ emit: 'onWindowClose' }),
  ];

  it('each of these lines', () => {
    expect(wrong).toHaveLength(16);
  });
});
