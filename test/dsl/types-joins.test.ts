/** Types of joins, as a user gets them without writing a type argument. The assertions are made by the compiler; running the file only checks that it builds. */
import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { GlobalKTable } from '../../src/dsl/global-ktable.js';
import type { JoinMistake, TableJoinMistake } from '../../src/dsl/join-mistake.js';
import type { KStream } from '../../src/dsl/kstream.js';
import type { KTable } from '../../src/dsl/ktable.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindows } from '../../src/time/join-windows.js';

interface View {
  readonly page: string;
}
interface Click {
  readonly target: number;
}
interface User {
  readonly name: string;
  readonly team: number;
}

const builder = new StreamsBuilder();
const views = builder.stream('views', { keySerde: serdes.string, valueSerde: serdes.json<View>() });
const clicks = builder.stream('clicks', { keySerde: serdes.string, valueSerde: serdes.json<Click>() });
const numbered = builder.stream('numbered', { keySerde: serdes.int32, valueSerde: serdes.json<Click>() });
const users = builder.table('users', { keySerde: serdes.string, valueSerde: serdes.json<User>() });
const ages = builder.table('ages', { keySerde: serdes.string, valueSerde: serdes.int32 });
const teams = builder.table('teams', { keySerde: serdes.int32, valueSerde: serdes.string });
const windows = joinWindows({ before: 1000, after: 1000 });

describe('what the compiler says of a join that fits nothing', () => {
  it('names what is missing, by the kind of the other side', () => {
    expectTypeOf<JoinMistake<KStream<string, Click>>>().toExtend<`${string}needs a third argument with \`windows\`${string}`>();
    expectTypeOf<JoinMistake<GlobalKTable<string, Click>>>().toExtend<`${string}needs a third argument with \`keyOf\`${string}`>();
    expectTypeOf<JoinMistake<KTable<number, Click>>>().toExtend<`the keys of stream and table are of one type${string}`>();
  });

  it('of tables names the key, the foreign key and the joiner', () => {
    expectTypeOf<
      TableJoinMistake<KTable<number, Click>, 'join'>
    >().toExtend<`the keys of both tables are of one type, or the third argument has \`foreignKey\`${string}takes (value, otherValue, key)${string}`>();
    expectTypeOf<
      TableJoinMistake<KTable<number, Click>, 'leftJoin'>
    >().toExtend<`${string}takes (value, otherValue or null, key)${string}`>();
    expectTypeOf<
      TableJoinMistake<KTable<number, Click>, 'outerJoin'>
    >().toExtend<`${string}there is no outer join by foreign key${string}(value or null, otherValue or null, key)${string}`>();
    expectTypeOf<TableJoinMistake<KStream<string, Click>, 'join'>>().toExtend<`a table is joined with a table: a stream joins${string}`>();
    expectTypeOf<
      TableJoinMistake<GlobalKTable<string, Click>, 'join'>
    >().toExtend<`a table is joined with a table: a global table is joined by a stream${string}`>();
  });
});

describe('types of stream-stream joins', () => {
  it('the result has the stream’s key and what the joiner gives, also by promise', () => {
    expectTypeOf(views.join(clicks, (view, click) => `${view.page} ${click.target}`, { windows })).toEqualTypeOf<KStream<string, string>>();
    expectTypeOf(views.leftJoin(clicks, async (_, click) => click?.target ?? null, { windows })).toEqualTypeOf<
      KStream<string, number | null>
    >();
    expectTypeOf(views.outerJoin(clicks, (view, click) => ({ view, click }), { windows })).toEqualTypeOf<
      KStream<string, { view: View | null; click: Click | null }>
    >();
  });

  it('what a join gives can be joined, grouped and kept', () => {
    const both = views.join(clicks, (view, click) => ({ ...view, ...click }), { windows });
    expectTypeOf(both.groupByKey().count()).toEqualTypeOf<KTable<string, number>>();
    const named = both.join(users, (seen, user) => [seen.page, seen.target, user.name] as const);
    expectTypeOf(named).toEqualTypeOf<KStream<string, readonly [string, number, string]>>();
    expectTypeOf(both.groupBy((seen) => seen.target, { keySerde: serdes.int32 }).reduce((one) => one)).toEqualTypeOf<
      KTable<number, { target: number; page: string }>
    >();
  });
});

describe('types of table-table joins', () => {
  it('the side that may lack is null', () => {
    expectTypeOf(users.join(ages, (user, age) => ({ ...user, age }))).toEqualTypeOf<
      KTable<string, { age: number; name: string; team: number }>
    >();
    users.leftJoin(ages, (user, age) => {
      expectTypeOf(user).toEqualTypeOf<User>();
      expectTypeOf(age).toEqualTypeOf<number | null>();
      return null;
    });
    users.outerJoin(ages, (user, age, key) => {
      expectTypeOf(user).toEqualTypeOf<User | null>();
      expectTypeOf(age).toEqualTypeOf<number | null>();
      expectTypeOf(key).toEqualTypeOf<string>();
      return null;
    });
  });

  it('by foreign key: the result has the left table’s key, the joiner the other’s value', () => {
    const inner = users.join(teams, (user, team) => `${user.name} ${team}`, {
      foreignKey: (user, key) => {
        expectTypeOf(user).toEqualTypeOf<User>();
        expectTypeOf(key).toEqualTypeOf<string>();
        return user.team;
      },
    });
    expectTypeOf(inner).toEqualTypeOf<KTable<string, string>>();
    const left = users.leftJoin(teams, (_, team) => team, { foreignKey: (user) => (user.team > 0 ? user.team : null) });
    expectTypeOf(left).toEqualTypeOf<KTable<string, string | null>>();
    expectTypeOf(inner.toStream()).toEqualTypeOf<KStream<string, string>>();
  });
});

describe('types of stream-table joins', () => {
  it('a joined table can be joined by a stream, also after a grace', () => {
    const rows = builder.table('versions', { keySerde: serdes.string, valueSerde: serdes.int32, materialized: { historyRetention: 1000 } });
    expectTypeOf(views.join(rows, (view, row) => [view.page, row] as const, { grace: 10 })).toEqualTypeOf<
      KStream<string, readonly [string, number]>
    >();
  });
});

describe('the compiler refuses', () => {
  const page = (view: View): string => view.page;
  const target = (_: unknown, click: Click): number => click.target;
  const noKey = (user: User): string => user.name;
  const teamOf = (user: User): number => user.team;
  // Declared, never called: only the types matter.
  const wrong: readonly (() => unknown)[] = [
    // @ts-expect-error streams with keys of other types
    () => views.join(numbered, page, { windows }),
    // @ts-expect-error streams without a window
    () => views.join(clicks, page, {}),
    // @ts-expect-error an inner joiner for a side that may be null
    () => views.leftJoin(clicks, target, { windows }),
    // @ts-expect-error a joiner that takes the left side as never null
    () => views.outerJoin(clicks, page, { windows }),
    // @ts-expect-error a joiner for other values
    () => clicks.join(views, target, { windows }),
    // @ts-expect-error a serde that does not fit the joined values
    () => views.join(clicks, target, { windows, valueSerde: serdes.string }),
    // @ts-expect-error a serde of the other side's values
    () => views.join(clicks, page, { windows, leftValueSerde: serdes.json<Click>() }),
    // @ts-expect-error a serde of other keys
    () => views.join(clicks, page, { windows, keySerde: serdes.int32 }),
    // @ts-expect-error tables with keys of other types, and no foreign key
    () => users.join(teams, noKey),
    // @ts-expect-error a foreign key of another type than the table's keys
    () => users.join(teams, noKey, { foreignKey: noKey }),
    // @ts-expect-error there is no outer join by foreign key
    () => users.outerJoin(teams, noKey, { foreignKey: teamOf }),
    // @ts-expect-error a joined row of another type than its serde
    () => users.join(ages, noKey, { materialized: { valueSerde: serdes.int32 } }),
    // @ts-expect-error a store's serde of other keys
    () => users.join(ages, noKey, { materialized: { keySerde: serdes.int32 } }),
    // @ts-expect-error a joiner that takes the other row as never null
    () => users.leftJoin(ages, (_: User, age: number) => age),
    // @ts-expect-error a joiner that takes its own row as never null
    () => users.outerJoin(ages, (user: User) => user.name),
    // @ts-expect-error a joiner for other rows
    () => users.join(ages, (user: User, age: string) => user.name + age),
    // @ts-expect-error a joiner for other keys
    () => users.join(ages, (user: User, _: number, key: number) => user.team + key),
    // @ts-expect-error a join without a joiner
    () => users.join(ages),
    // @ts-expect-error a global table is joined by a stream
    () => users.join(builder.globalTable('regions', { keySerde: serdes.string, valueSerde: serdes.string }), noKey),
    // @ts-expect-error a stream is no table
    () => users.join(views, noKey),
    // @ts-expect-error joins of tables have no windows
    () => users.join(ages, noKey, { windows }),
  ];

  it('each of these lines', () => {
    expect(wrong).toHaveLength(21);
  });
});

describe('types of lookup joins', () => {
  interface Row {
    readonly city: string;
  }
  const find = (_id: number, _call: { readonly signal: AbortSignal }): Promise<Row | null> => Promise.resolve(null);

  it('the row is there in an inner join and may be null in a left one', () => {
    const keyOf = (click: Click): number => click.target;
    expectTypeOf(clicks.lookupJoin(find, (click, row) => [click.target, row.city] as const, { keyOf })).toEqualTypeOf<
      KStream<string, readonly [number, string]>
    >();
    expectTypeOf(clicks.leftLookupJoin(find, (_click, row) => row, { keyOf: (click) => click.target })).toEqualTypeOf<
      KStream<string, Row | null>
    >();
    expectTypeOf(
      clicks.lookupJoin(
        (id: number) => (id > 0 ? { id } : undefined),
        async (_click, row) => row.id,
        { keyOf },
      ),
    ).toEqualTypeOf<KStream<string, number>>();
  });

  it('keyOf gives what the lookup takes', () => {
    // @ts-expect-error a text is no number
    clicks.lookupJoin(find, (_click, row) => row, { keyOf: () => 'x' });
    // @ts-expect-error keyOf is needed
    expect(() => clicks.lookupJoin(find, (_click, row) => row, { name: 'x' })).toThrow('keyOf must be a function');
  });
});
