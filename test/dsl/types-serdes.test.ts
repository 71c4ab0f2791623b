/** Which serdes fit which results. The assertions are made by the compiler; running the file only checks that it builds. */
import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { KeyedStream } from '../../src/dsl/keyed-stream.js';
import type { KGroupedStream } from '../../src/dsl/kgrouped-stream.js';
import type { KStream } from '../../src/dsl/kstream.js';
import type { KTable } from '../../src/dsl/ktable.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { ValueMapper } from '../../src/processors/user-functions.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';

type Status = 'open' | 'closed';
type OrderId = string & { readonly brand: 'order' };
interface Order {
  readonly id: OrderId;
  readonly total: number;
  readonly status: Status;
  readonly note?: string;
}

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const builder = new StreamsBuilder();
const orders = builder.stream('orders', { keySerde: serdes.string, valueSerde: serdes.json<Order>() });
const names = builder.table('names', text);
const rows = builder.table('rows', { keySerde: serdes.string, valueSerde: serdes.json<Order>() });
const windows = joinWindows({ before: 1, after: 1 });

describe('unions of literals, with the serde of their type', () => {
  it('are values, and stay what they are', () => {
    const { string } = serdes;
    expectTypeOf(orders.mapValues((order) => order.status, { valueSerde: string })).toEqualTypeOf<KStream<string, Status>>();
    const size = orders.mapValues((order) => (order.total > 1 ? 'big' : 'small'), { valueSerde: string });
    expectTypeOf(size).toEqualTypeOf<KStream<string, 'big' | 'small'>>();
    expectTypeOf(orders.mapValues((order) => (order.total > 1 ? order.status : null), { valueSerde: string })).toEqualTypeOf<
      KStream<string, Status | null>
    >();
    expectTypeOf(orders.mapValues((order) => (order.total > 1 ? 1 : 2), { valueSerde: serdes.int32 })).toEqualTypeOf<
      KStream<string, 1 | 2>
    >();
    expectTypeOf(orders.flatMapValues((order) => [order.status], { valueSerde: string })).toEqualTypeOf<KStream<string, Status>>();
    const later = orders.mapValuesAsync(async (order) => order.status, { name: 'later', valueSerde: string });
    expectTypeOf(later).toEqualTypeOf<KStream<string, Status>>();
    expectTypeOf(rows.mapValues((order) => order.status, { valueSerde: string })).toExtend<KTable<string, string>>();
  });

  it('are keys', () => {
    expectTypeOf(orders.selectKey((order) => order.status, { keySerde: serdes.string })).toEqualTypeOf<KStream<Status, Order>>();
    expectTypeOf(orders.groupBy((order) => order.status, { keySerde: serdes.string, name: 'grouped' })).toEqualTypeOf<
      KGroupedStream<Status, Order>
    >();
    expectTypeOf(orders.keyBy((order) => order.status, { keySerde: serdes.string, name: 'keyed' })).toEqualTypeOf<
      KeyedStream<Status, Order>
    >();
    expectTypeOf(orders.map((order, key) => [order.status, key], text)).toEqualTypeOf<KStream<Status, string>>();
    expectTypeOf(orders.flatMap((order, key) => [[order.status, key]], text)).toEqualTypeOf<KStream<Status, string>>();
    expectTypeOf(
      orders.map((order) => [order.total > 1 ? 'a' : 'b', 1], { keySerde: serdes.string, valueSerde: serdes.double }),
    ).toEqualTypeOf<KStream<string, number>>();
  });

  it('are results of joins and aggregates', () => {
    const joined = orders.join(names, (order, name) => (name === 'x' ? 'y' : order.status), { valueSerde: serdes.string, name: 'joined' });
    expectTypeOf(joined).toEqualTypeOf<KStream<string, 'y' | Status>>();
    const both = orders.join(orders, (left, right) => (left.total > right.total ? left.status : right.status), {
      windows,
      valueSerde: serdes.string,
    });
    expectTypeOf(both).toEqualTypeOf<KStream<string, Status>>();
    const last = orders.groupByKey().aggregate(
      (): Status => 'open',
      (_, order) => order.status,
      { materialized: { storeName: 'last', valueSerde: serdes.string } },
    );
    expectTypeOf(last).toEqualTypeOf<KTable<string, string>>();
    last.toStream().to('last', { valueSerde: serdes.string });
    rows.join(names, (order) => order.status, { materialized: { storeName: 'statuses', valueSerde: serdes.string } });
  });

  it('are written, repartitioned, grouped and kept', () => {
    const byStatus = orders.selectKey((order) => order.status).mapValues((order) => order.status);
    byStatus.to('statuses', text);
    expectTypeOf(byStatus.repartition(text)).toEqualTypeOf<KStream<Status, Status>>();
    expectTypeOf(byStatus.groupByKey(text)).toEqualTypeOf<KGroupedStream<Status, Status>>();
    expectTypeOf(byStatus.toTable({ materialized: text })).toEqualTypeOf<KTable<Status, Status>>();
    expectTypeOf(byStatus.groupByKey(text).reduce((_, last) => last, { materialized: text })).toEqualTypeOf<KTable<Status, Status>>();
  });

  it('strings with a brand too', () => {
    const ids = orders.map((order) => [order.id, order.id], text);
    expectTypeOf(ids).toEqualTypeOf<KStream<OrderId, OrderId>>();
    ids.to('ids', text);
  });
});

describe('serdes.json() without a type takes it from what the function gives', () => {
  interface Id {
    a: OrderId;
  }
  const json = <T>(): { valueSerde: Serde<T> } => ({ valueSerde: serdes.json<T>() });

  it('as value', () => {
    expectTypeOf(orders.mapValues((order) => ({ a: order.id }), { valueSerde: serdes.json() })).toEqualTypeOf<KStream<string, Id>>();
    expectTypeOf(orders.mapValues(async (order) => ({ a: order.id }), { valueSerde: serdes.json() })).toEqualTypeOf<KStream<string, Id>>();
    expectTypeOf(orders.map((order, key) => [key, { a: order.id }], { valueSerde: serdes.json() })).toEqualTypeOf<KStream<string, Id>>();
    expectTypeOf(orders.flatMap((order, key) => [[key, { a: order.id }]], { valueSerde: serdes.json() })).toEqualTypeOf<
      KStream<string, Id>
    >();
    expectTypeOf(orders.flatMapValues((order) => [{ a: order.id }], { valueSerde: serdes.json() })).toEqualTypeOf<KStream<string, Id>>();
    const later = orders.mapValuesAsync(async (order) => ({ a: order.id }), { name: 'later-json', valueSerde: serdes.json() });
    expectTypeOf(later).toEqualTypeOf<KStream<string, Id>>();
    const joined = orders.join(names, (order) => ({ a: order.id }), { valueSerde: serdes.json() });
    expectTypeOf(joined).toEqualTypeOf<KStream<string, Id>>();
    const rowsJoined = rows.join(names, (order) => ({ a: order.id }), {
      materialized: { storeName: 'joined-rows', valueSerde: serdes.json() },
    });
    expectTypeOf(rowsJoined).toEqualTypeOf<KTable<string, Id>>();
    orders.mapValues((order) => ({ a: order.id })).to('ids', json());
    orders.mapValues((order) => ({ a: order.id })).repartition(json());
  });

  it('as key', () => {
    expectTypeOf(orders.selectKey((order) => ({ a: order.id }), { keySerde: serdes.json() })).toEqualTypeOf<KStream<Id, Order>>();
    expectTypeOf(orders.groupBy((order) => ({ a: order.id }), { keySerde: serdes.json() })).toEqualTypeOf<KGroupedStream<Id, Order>>();
    orders.keyBy((order) => ({ a: order.id }), { keySerde: serdes.json(), name: 'keyed-json' });
  });

  it('as aggregate', () => {
    const sums = orders.groupByKey().aggregate(
      () => ({ sum: 0 }),
      ({ sum }, order) => ({ sum: sum + order.total }),
      { materialized: { storeName: 'sums', valueSerde: serdes.json() } },
    );
    expectTypeOf(sums).toEqualTypeOf<KTable<string, { sum: number }>>();
  });
});

describe('what a function gives', () => {
  it('may be unknown, any, null, or nothing that is known yet', () => {
    expectTypeOf(orders.mapValues((order) => JSON.parse(order.id) as unknown)).toEqualTypeOf<KStream<string, unknown>>();
    const anything: ValueMapper<string, Order, ReturnType<typeof JSON.parse>> = (order) => order.note;
    expectTypeOf(orders.mapValues(anything)).toEqualTypeOf<KStream<string, ReturnType<typeof JSON.parse>>>();
    expectTypeOf(orders.mapValues((order) => order.note ?? null)).toEqualTypeOf<KStream<string, string | null>>();
    const later = <V, W>(stream: KStream<string, V>, of: (value: V) => W, serde: Serde<W>): KStream<string, W> =>
      stream.mapValues((value) => of(value), { valueSerde: serde }).mapValues((value) => value);
    expectTypeOf(later(orders, (order) => order.total, serdes.double)).toEqualTypeOf<KStream<string, number>>();
  });
});

describe('the compiler refuses', () => {
  const noResult = (order: Order): void => expect(order).toBeDefined();
  // Declared, never called: only the types matter.
  const wrong: readonly (() => unknown)[] = [
    // @ts-expect-error a function that may give undefined
    () => orders.mapValues((order) => order.note),
    // @ts-expect-error the same, and a serde
    () => orders.mapValues((order) => order.note, { valueSerde: serdes.string }),
    // @ts-expect-error a promise of it
    () => orders.mapValues(async (order) => order.note),
    // @ts-expect-error a function without a return
    () => orders.mapValues(noResult),
    // @ts-expect-error undefined as value of a pair
    () => orders.map((order, key) => [key, order.note]),
    // @ts-expect-error undefined as key
    () => orders.selectKey((order) => order.note),
    // @ts-expect-error undefined as key of a group
    () => orders.groupBy((order) => order.note),
    // @ts-expect-error undefined in the list
    () => orders.flatMapValues((order) => [order.note]),
    // @ts-expect-error undefined, asynchronously
    () => orders.mapValuesAsync(async (order) => order.note, { name: 'x' }),
    // @ts-expect-error undefined as a row
    () => rows.mapValues((order) => order.note),
    // @ts-expect-error a joiner that may give undefined
    () => orders.leftJoin(names, (order, name) => (name === null ? order.note : name)),
    // @ts-expect-error the same with a stream
    () => orders.join(orders, (order) => order.note, { windows }),
    // @ts-expect-error the same of two tables
    () => rows.join(names, (order) => order.note),
    // @ts-expect-error the same by event time
    () => orders.keyBy().leftTemporalJoin(rows.toStream().keyBy(), (order, row) => row?.status),
    // @ts-expect-error the same within an interval
    () => orders.keyBy().intervalJoin(orders.keyBy(), { lower: 0, upper: 1 }, (order) => order.note),
    // @ts-expect-error the same within a window
    () => orders.keyBy().windowJoin(orders.keyBy(), tumblingEventTime({ size: 1 }), (order) => order.note),
    // @ts-expect-error numbers by a serde of strings
    () => orders.mapValues((order) => (order.total > 1 ? 1 : 2), { valueSerde: serdes.string }),
    // @ts-expect-error the type argument says another type than the serde
    () => orders.mapValues<number>((order) => order.total, { valueSerde: serdes.string }),
  ];

  it('each of these lines', () => {
    expect(wrong).toHaveLength(18);
  });
});
