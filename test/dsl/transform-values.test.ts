/** `transformValues` of a table: values that an object makes, with state of its own. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { ProcessingContext, RecordMetadata } from '../../src/processors/processor.js';
import type { RecordMeta } from '../../src/processors/record-meta.js';
import type { ValueTransformer } from '../../src/processors/value-transformer.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { stores } from '../../src/stores/stores.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { runTopology, strings, write, type Input } from './run-topology.js';

const rows: Input[] = [
  ['a', 'x', 10],
  ['b', 'y', 11],
  ['a', 'z', 12],
  ['a', null, 13],
];

/** Numbers its calls by key, in a store. */
class Numbered implements ValueTransformer<string, string, string> {
  private calls: KeyValueStore<string, number> | null = null;

  init(context: ProcessingContext): void {
    this.calls = context.store<KeyValueStore<string, number>>('calls', 'keyValue');
  }

  transform(value: string | null, key: string): string | null {
    const call = (this.calls?.get(key) ?? 0) + 1;
    this.calls?.put(key, call);
    return value === null ? null : `${value}#${call}`;
  }
}

const calls = () => stores.keyValue({ name: 'calls', keySerde: serdes.string, valueSerde: serdes.int32 });

describe('transformValues', () => {
  it('keeps state in the stores that it names', async () => {
    const declare = (builder: StreamsBuilder): void => {
      builder.addStateStore(calls());
      write(builder.table('in', strings).transformValues(() => new Numbered(), { stores: ['calls'], valueSerde: serdes.string }));
    };
    expect((await runTopology(declare, rows)).out).toEqual(['a=x#1@10', 'b=y#1@11', 'a=z#2@12', 'a=null@13']);
  });

  it('is told of deleted rows, and may give one for them', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(builder.table('in', strings).transformValues(() => ({ transform: (value) => value?.toUpperCase() ?? 'gone' })));
    expect((await runTopology(declare, rows)).out).toEqual(['a=X@10', 'b=Y@11', 'a=Z@12', 'a=gone@13']);
  });

  it('may answer later, one call at a time', async () => {
    const busy: string[] = [];
    const declare = (builder: StreamsBuilder): void => {
      const table = builder.table('in', strings).transformValues(() => ({
        transform: async (value, key) => {
          busy.push(`${key} begins`);
          await Promise.resolve();
          busy.push(`${key} ends`);
          return value;
        },
      }));
      write(table.groupBy((value, key) => [value, key], strings).count());
    };
    const { out } = await runTopology(declare, rows);
    expect(out).toEqual(['x=1@10', 'y=1@11', 'x=0@12', 'z=1@12', 'z=0@13']);
    expect(busy.filter((_, at) => at % 2 === 0).every((text) => text.endsWith('begins'))).toBe(true);
  });

  it('is called once a change where the result is kept, and for the row before where it is not', async () => {
    const declare = (materialized?: { readonly storeName: string }) => (builder: StreamsBuilder) => {
      builder.addStateStore(calls());
      const options = { stores: ['calls'], valueSerde: serdes.string, ...(materialized === undefined ? {} : { materialized }) };
      const table = builder.table('in', strings).transformValues(() => new Numbered(), options);
      write(
        table
          .groupBy((value) => ['all', value], strings)
          .reduce(
            (all, value) => `${all}+${value}`,
            (all, value) => `${all}-${value}`,
          ),
      );
    };
    const two = rows.slice(0, 3);
    expect((await runTopology(declare({ storeName: 'kept' }), two)).out).toEqual([
      'all=x#1@10',
      'all=x#1+y#1@11',
      'all=x#1+y#1-x#1+z#2@12',
    ]);
    // a: x is call 1, nothing before it 2; z is 3, and x again 4.
    expect((await runTopology(declare(), two)).out).toEqual(['all=x#1@10', 'all=x#1+y#1@11', 'all=x#1+y#1-x#4+z#3@12']);
  });

  it('has a transformer of its own for whoever looks a row up that is not kept, closed with the task', async () => {
    const told: string[] = [];
    class Told implements ValueTransformer<string, string, string> {
      private context: ProcessingContext | null = null;

      init(context: ProcessingContext): void {
        this.context = context;
        told.push('init');
      }

      transform(value: string | null, key: string, meta: RecordMeta): string | null {
        const source: RecordMetadata | null = this.context?.recordMetadata() ?? null;
        told.push(`${key}=${value} of ${meta.topic}@${meta.timestamp}, ${source === null ? 'looked up' : 'changed'}`);
        return value === null ? null : `<${value}>`;
      }

      close(): void {
        told.push('closed');
      }
    }
    const builder = new StreamsBuilder();
    const table = builder.table('in', strings).transformValues(() => new Told(), { valueSerde: serdes.string });
    builder
      .stream('records', strings)
      .join(table, (value, row) => value + row)
      .to('out', strings);
    told.length = 0;
    const driver = new TopologyTestDriver(builder.build(), { emit: 'onUpdate' });
    await driver.inputTopic('in', strings).pipe('a', 'x', { timestamp: 10 });
    await driver.inputTopic('records', strings).pipe('a', '1', { timestamp: 20 });
    await driver.inputTopic('records', strings).pipe('b', '2', { timestamp: 21 });
    expect(driver.outputTopic('out', strings).readAll()).toMatchObject([{ key: 'a', value: '1<x>', timestamp: 20 }]);
    await driver.close();
    expect(told).toEqual([
      'init',
      'init',
      'a=x of in@10, changed',
      'a=x of null@10, looked up',
      'b=null of null@-1, looked up',
      'closed',
      'closed',
    ]);
  });

  it('has its stores wherever it is looked up', async () => {
    const declare = (builder: StreamsBuilder): void => {
      const table = builder.table('t', strings).transformValues(() => new Numbered(), { stores: [calls()], valueSerde: serdes.string });
      builder
        .stream('in', strings)
        .join(table, (value, row) => value + row)
        .to('out', strings);
    };
    const inputs: Input[] = [
      ['a', 'x', 1, 't'],
      ['a', '1', 2],
      ['a', '2', 3],
    ];
    expect((await runTopology(declare, inputs)).out).toEqual(['a=1x#2@2', 'a=2x#3@3']);
  });

  it('can be queried under its name', async () => {
    const builder = new StreamsBuilder();
    builder.table('in', strings).transformValues(() => ({ transform: (value: string | null) => value && `${value}!` }), {
      valueSerde: serdes.string,
      materialized: { storeName: 'loud' },
    });
    await using driver = new TopologyTestDriver(builder.build());
    await driver.inputTopic('in', strings).pipe('a', 'x', { timestamp: 1 });
    const view = await driver.view<string, string>('loud');
    expect(await view.get('a')).toBe('x!');
  });

  it('may set timers, and has nothing to forward with', async () => {
    const fired: number[] = [];
    const builder = new StreamsBuilder();
    const table = builder.table('in', strings).transformValues(() => ({
      init(context: ProcessingContext): void {
        expect('forward' in context).toBe(false);
        context.schedule({ interval: 10, time: 'stream' }, (time) => void fired.push(time));
      },
      transform: (value: string | null) => value,
    }));
    write(table);
    await using driver = new TopologyTestDriver(builder.build());
    for (const timestamp of [0, 10, 25]) await driver.inputTopic('in', strings).pipe('a', 'x', { timestamp });
    expect(fired).toEqual([0, 10, 25]);
  });

  it('fails a record whose transformer forgets its return', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(builder.table('in', strings).transformValues(() => ({ transform: () => undefined as unknown as string })));
    await expect(runTopology(declare, rows)).rejects.toThrow('transformValues: transform gave undefined: return a value, or null for none');
  });
});

describe('transformValues refuses', () => {
  const one: ValueTransformer<string, string, string> = { transform: (value) => value };
  const wrong: readonly (readonly [what: string, supplier: unknown, options: object, message: string])[] = [
    ['what is no supplier', one, {}, 'transformValues: the supplier must be a function, not an object with transform.'],
    [
      'a function of values',
      (value: string) => value.toUpperCase(),
      { name: 't' },
      'Processor t has a supplier that fails when it is called without arguments, to make a processor: Cannot read properties of undefined',
    ],
    [
      'one that gives the same object each time',
      () => one,
      { name: 't' },
      'Processor t has a supplier that gives the same object each time',
    ],
    [
      'one that gives a processor',
      () => ({ process: () => undefined }),
      { name: 't' },
      'Processor t has a supplier that gives an object without it; it must give an object with a method `transform`.',
    ],
    ['options that it does not have', () => ({ ...one }), { store: 'calls' }, 'transformValues has no option store; did you mean stores?'],
    ['stores that are none', () => ({ ...one }), { stores: [5] }, 'transformValues: stores takes names of stores and what'],
    [
      'history without a name',
      () => ({ ...one }),
      { materialized: { historyRetention: 5 } },
      'materialized: historyRetention needs a storeName',
    ],
  ];

  it.each(wrong)('%s', (_what, supplier, options, message) => {
    const table = new StreamsBuilder().table('in', strings);
    const declare = () => table.transformValues(supplier as () => ValueTransformer<string, string, string>, options);
    expect(declare).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID', message: expect.stringContaining(message) }));
  });

  it('stores that nobody has added', () => {
    const builder = new StreamsBuilder();
    builder.table('in', strings).transformValues(() => new Numbered(), { stores: ['calls'] });
    expect(() => builder.build()).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_UNKNOWN_STORE' }));
  });
});
