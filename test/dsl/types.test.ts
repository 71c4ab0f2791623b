/** What a user gets without writing a type argument. The assertions are made by the compiler (`npm run typecheck`); running the file only checks that it builds. */
import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { GlobalKTable } from '../../src/dsl/global-ktable.js';
import type { KGroupedStream } from '../../src/dsl/kgrouped-stream.js';
import type { KStream } from '../../src/dsl/kstream.js';
import type { KTable } from '../../src/dsl/ktable.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { Processor, ProcessorContext, Record } from '../../src/processors/processor.js';
import type { RecordMeta } from '../../src/processors/record-meta.js';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { hopping, tumbling } from '../../src/time/time-windows.js';
import type { Windowed } from '../../src/time/windowed.js';

interface Order {
  readonly customer: string;
  readonly total: number;
}
interface Refund {
  readonly refunded: number;
}
interface Customer {
  readonly name: string;
}

const builder = new StreamsBuilder();
const orders = builder.stream('orders', { keySerde: serdes.string, valueSerde: serdes.json<Order>() });
const customers = builder.table('customers', { keySerde: serdes.string, valueSerde: serdes.json<Customer>() });
const byNumber = builder.table('numbers', { keySerde: serdes.int32, valueSerde: serdes.json<Customer>() });
const regions = builder.globalTable('regions', { keySerde: serdes.int32, valueSerde: serdes.string });

class Totals implements Processor<string, Order, string, number> {
  private context: ProcessorContext<string, number> | null = null;
  init(context: ProcessorContext<string, number>): void {
    this.context = context;
  }
  process(record: Record<string, Order>): void {
    void this.context?.forward({ key: record.key, value: record.value.total });
  }
}

describe('types of sources', () => {
  it('come from the serdes', () => {
    expectTypeOf(orders).toEqualTypeOf<KStream<string, Order>>();
    expectTypeOf(customers).toEqualTypeOf<KTable<string, Customer>>();
    expectTypeOf(regions).toEqualTypeOf<GlobalKTable<number, string>>();
  });

  it('are unknown without serdes, or as told', () => {
    const later = new StreamsBuilder();
    expectTypeOf(later.stream('a')).toEqualTypeOf<KStream<unknown, unknown>>();
    expectTypeOf(later.stream<string, Order>(/b-.+/)).toEqualTypeOf<KStream<string, Order>>();
    expectTypeOf(later.stream(['c', 'd'], { keySerde: serdes.string })).toEqualTypeOf<KStream<string, unknown>>();
  });
});

describe('types of user functions', () => {
  it('get value, key and meta', () => {
    orders.filter((value, key, meta) => {
      expectTypeOf(value).toEqualTypeOf<Order>();
      expectTypeOf(key).toEqualTypeOf<string>();
      expectTypeOf(meta).toEqualTypeOf<RecordMeta>();
      return value.total > 1;
    });
  });

  it('keep the fields of a meta that they copy, and not its headers()', () => {
    orders.peek((_value, _key, meta) => {
      const { ...copy } = meta;
      expectTypeOf(copy).toEqualTypeOf<{ topic: string | null; partition: number; offset: number; timestamp: number }>();
      return expectTypeOf(copy).not.toHaveProperty('headers');
    });
  });

  it('may answer with a promise; the stream has what it resolves to', () => {
    expectTypeOf(orders.mapValues(async (order) => order.total)).toEqualTypeOf<KStream<string, number>>();
    expectTypeOf(orders.map(async (order) => [order.total, order.customer] as const)).toEqualTypeOf<KStream<number, string>>();
    expectTypeOf(orders.flatMapValues(async (order) => [order.total])).toEqualTypeOf<KStream<string, number>>();
    expectTypeOf(orders.selectKey(async (order) => order.total)).toEqualTypeOf<KStream<number, Order>>();
    expectTypeOf(orders.filter(async (order) => order.total > 1)).toEqualTypeOf<KStream<string, Order>>();
    expectTypeOf(orders.mapValues((order) => (order.total > 1 ? order.total : Promise.resolve(0)))).toEqualTypeOf<
      KStream<string, number>
    >();
  });

  it('give pairs, inferred as such', () => {
    expectTypeOf(orders.map((order) => [order.customer, order.total])).toEqualTypeOf<KStream<string, number>>();
    expectTypeOf(orders.flatMap((order) => [[order.total, order.customer]])).toEqualTypeOf<KStream<number, string>>();
  });

  it('narrow by type guard', () => {
    const mixed = orders.mapValues((order): Order | Refund => order);
    expectTypeOf(mixed.filter((value): value is Refund => 'refunded' in value)).toEqualTypeOf<KStream<string, Refund>>();
  });
});

describe('types of grouping and aggregating', () => {
  it('keys by what the function gives', () => {
    expectTypeOf(orders.groupByKey()).toEqualTypeOf<KGroupedStream<string, Order>>();
    expectTypeOf(orders.groupBy((order) => order.total, { keySerde: serdes.double })).toEqualTypeOf<KGroupedStream<number, Order>>();
  });

  it('counts to numbers', () => {
    expectTypeOf(orders.groupByKey().count()).toEqualTypeOf<KTable<string, number>>();
    expectTypeOf(orders.groupByKey().count().toStream()).toEqualTypeOf<KStream<string, number>>();
  });

  it('reduces to the values’ type, aggregates to the initializer’s', () => {
    expectTypeOf(orders.groupByKey().reduce((largest, order) => (order.total > largest.total ? order : largest))).toEqualTypeOf<
      KTable<string, Order>
    >();
    expectTypeOf(
      orders.groupByKey().aggregate(
        () => 0,
        (sum, order) => sum + order.total,
      ),
    ).toEqualTypeOf<KTable<string, number>>();
    expectTypeOf(
      orders.groupByKey().aggregate(
        () => ({ orders: 0, total: 0 }),
        (sum, order) => ({ orders: sum.orders + 1, total: sum.total + order.total }),
        { materialized: { valueSerde: serdes.json<{ orders: number; total: number }>() } },
      ),
    ).toEqualTypeOf<KTable<string, { orders: number; total: number }>>();
  });

  it('windows make windowed keys', () => {
    const windowed = orders.groupByKey().windowedBy(tumbling({ size: 60_000, grace: 0 }));
    expectTypeOf(windowed.count({ emit: 'onWindowClose' })).toEqualTypeOf<KTable<Windowed<string>, number>>();
    expectTypeOf(
      orders
        .groupByKey()
        .windowedBy(hopping({ size: 10, advance: 5 }))
        .aggregate(
          () => '',
          (text, order) => text + order.customer,
        ),
    ).toEqualTypeOf<KTable<Windowed<string>, string>>();
  });
});

describe('types of joins', () => {
  it('of two streams: the side that may lack is null in left and outer joins', () => {
    const refunds = builder.stream('refunds', { keySerde: serdes.string, valueSerde: serdes.json<Refund>() });
    const windows = joinWindows({ before: 1, after: 1 });
    const inner = orders.join(refunds, (order, refund, key) => [order.total, refund.refunded, key] as const, { windows });
    expectTypeOf(inner).toEqualTypeOf<KStream<string, readonly [number, number, string]>>();
    orders.leftJoin(
      refunds,
      (order, refund) => {
        expectTypeOf(order).toEqualTypeOf<Order>();
        expectTypeOf(refund).toEqualTypeOf<Refund | null>();
        return null;
      },
      { windows },
    );
    orders.outerJoin(
      refunds,
      (order, refund) => {
        expectTypeOf(order).toEqualTypeOf<Order | null>();
        expectTypeOf(refund).toEqualTypeOf<Refund | null>();
        return null;
      },
      { windows },
    );
    // @ts-expect-error streams are joined within a window
    expect(() => orders.join(refunds, (order) => order)).toThrow('needs `windows`');
  });

  it('of two tables, by key and by foreign key', () => {
    const names = builder.table('names', { keySerde: serdes.string, valueSerde: serdes.string });
    const inner = customers.join(names, (customer, name, key) => [customer.name, name, key] as const);
    expectTypeOf(inner).toEqualTypeOf<KTable<string, readonly [string, string, string]>>();
    customers.outerJoin(names, (customer, name) => {
      expectTypeOf(customer).toEqualTypeOf<Customer | null>();
      expectTypeOf(name).toEqualTypeOf<string | null>();
      return null;
    });
    const byForeignKey = customers.leftJoin(byNumber, (customer, other) => other?.name ?? customer.name, {
      foreignKey: (customer) => customer.name.length,
    });
    expectTypeOf(byForeignKey).toEqualTypeOf<KTable<string, string>>();
    // @ts-expect-error the foreign key is a key of the other table
    customers.join(byNumber, (customer) => customer, { foreignKey: (customer) => customer.name });
    // @ts-expect-error without a foreign key both tables have keys of one type
    customers.join(byNumber, (customer) => customer);
  });

  it('give the row to inner joins, the row or null to left joins', () => {
    const inner = orders.join(customers, (order, customer, key) => {
      expectTypeOf(customer).toEqualTypeOf<Customer>();
      expectTypeOf(key).toEqualTypeOf<string>();
      return { ...order, ...customer };
    });
    expectTypeOf(inner).toEqualTypeOf<KStream<string, { name: string; customer: string; total: number }>>();
    const left = orders.leftJoin(customers, (order, customer) => {
      expectTypeOf(customer).toEqualTypeOf<Customer | null>();
      return customer?.name ?? order.customer;
    });
    expectTypeOf(left).toEqualTypeOf<KStream<string, string>>();
  });

  it('find rows of a global table by its own key', () => {
    const joined = orders.join(regions, (order, region) => [order.total, region] as const, { keyOf: (order) => order.total });
    expectTypeOf(joined).toEqualTypeOf<KStream<string, readonly [number, string]>>();
    expectTypeOf(orders.leftJoin(regions, (_, region) => region, { keyOf: () => null })).toEqualTypeOf<KStream<string, string | null>>();
  });
});

describe('types of the rest', () => {
  it('a topic is named from value and key', () => {
    orders.to((value, key, source) => {
      expectTypeOf(value).toEqualTypeOf<Order>();
      expectTypeOf(key).toEqualTypeOf<string>();
      expectTypeOf(source.topic).toEqualTypeOf<string | null>();
      return `orders-${value.customer}`;
    });
  });

  it('process gives what the processor forwards', () => {
    expectTypeOf(orders.process(() => new Totals(), { name: 'totals' })).toEqualTypeOf<KStream<string, number>>();
  });

  it('branches have their names', () => {
    const split = orders
      .split()
      .branch((order) => order.total > 100, { name: 'big' })
      .defaultBranch({ name: 'small' });
    expectTypeOf(split).toEqualTypeOf<{ readonly big: KStream<string, Order>; readonly small: KStream<string, Order> }>();
  });

  it('merge gives either value; a stream becomes a table', () => {
    expectTypeOf(orders.merge(orders.mapValues((order) => order.total))).toEqualTypeOf<KStream<string, Order | number>>();
    expectTypeOf(orders.toTable()).toEqualTypeOf<KTable<string, Order>>();
  });
});

describe('the compiler refuses', () => {
  const zero = () => 0;
  const text = () => 'text';
  const split = orders.split().branch(() => true, { name: 'a' });
  // Declared, never called: only the types matter.
  const wrong: readonly (() => unknown)[] = [
    // @ts-expect-error a serde of another value type
    () => orders.to('out', { valueSerde: serdes.string }),
    // @ts-expect-error a serde that does not fit what the mapper gives
    () => orders.mapValues((order) => order.total, { valueSerde: serdes.string }),
    // @ts-expect-error a serde that does not fit the new key
    () => orders.groupBy((order) => order.total, { keySerde: serdes.string }),
    // @ts-expect-error a predicate that answers with no boolean
    () => orders.filter((order) => order.total),
    // @ts-expect-error a mapper that gives no pair
    () => orders.map((order) => order.total),
    // @ts-expect-error a table with other keys
    () => orders.join(byNumber, (order) => order),
    // @ts-expect-error a global table without keyOf
    () => orders.join(regions, (order) => order),
    // @ts-expect-error keyOf of another type than the global table's keys
    () => orders.join(regions, (order) => order, { keyOf: (order) => order.customer }),
    // @ts-expect-error streams with other keys
    () => orders.merge(builder.stream('n', { keySerde: serdes.int32, valueSerde: serdes.json<Order>() })),
    // @ts-expect-error only windows close
    () => orders.groupByKey().count({ emit: 'onWindowClose' }),
    // @ts-expect-error retention is for windows
    () => orders.groupByKey().count({ materialized: { retention: 1 } }),
    // @ts-expect-error a processor for other records
    () => customers.toStream().process(() => new Totals()),
    // @ts-expect-error an aggregator that gives another type
    () => orders.groupByKey().aggregate(zero, text),
    // @ts-expect-error an unknown option
    () => orders.filter(() => true, { nmae: 'x' }),
    // @ts-expect-error a branch that was not named
    (): { readonly b: KStream<string, Order> } => split.noDefaultBranch(),
  ];

  it('each of these lines', () => {
    expect(wrong).toHaveLength(15);
  });
});
