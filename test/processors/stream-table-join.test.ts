import { describe, expect, it } from '@jest/globals';
import { streamGlobalTableJoinOperator } from '../../src/processors/stream-global-table-join.js';
import { streamTableJoinOperator } from '../../src/processors/stream-table-join.js';
import { storeGetter } from '../../src/processors/table-getter.js';
import { FakeKeyValueStore } from './harness/fake-stores.js';
import { OperatorHarness } from './harness/operator-harness.js';

const table = () => {
  const store = new FakeKeyValueStore<string, string>('t');
  store.put('0', 'a', 99);
  return store;
};
const joiner = (value: string, row: string | null, key: string) => `${key}:${value}-${row}`;

describe('stream–table join', () => {
  it('joins with the table’s current row and keeps the stream’s time', async () => {
    const store = table();
    const harness = new OperatorHarness(streamTableJoinOperator({ table: storeGetter<string, string>('t'), joiner, left: false }), {
      stores: [store],
    });
    await harness.pipeAll([['0', 'A', 5]]);
    store.put('0', 'b', 100);
    await harness.pipeAll([['0', 'B', 4]]);
    expect(harness.out).toEqual([
      ['0', '0:A-a', 5],
      ['0', '0:B-b', 4],
    ]);
  });

  it('inner: a record without a row has no result; without a key or a value it is dropped and counted', async () => {
    const harness = new OperatorHarness(streamTableJoinOperator({ table: storeGetter<string, string>('t'), joiner, left: false }), {
      stores: [table()],
    });
    await harness.pipeAll([
      ['1', 'A'],
      [null, 'A'],
      ['0', null],
    ]);
    expect(harness.out).toEqual([]);
    expect(harness.drops).toEqual(['null-key', 'null-value']);
  });

  it('left: a record without a row or without a key joins with null; without a value it is dropped', async () => {
    const harness = new OperatorHarness(streamTableJoinOperator({ table: storeGetter<string, string>('t'), joiner, left: true }), {
      stores: [table()],
    });
    await harness.pipeAll([
      ['1', 'A', 1],
      [null, 'B', 2],
      [null, null, 3],
      ['0', null, 4],
    ]);
    expect(harness.out).toEqual([
      ['1', '1:A-null', 1],
      [null, 'null:B-null', 2],
    ]);
    expect(harness.drops).toEqual(['null-value', 'null-value']);
  });

  it('an async joiner gives the same result', async () => {
    const supplier = streamTableJoinOperator({
      table: storeGetter<string, string>('t'),
      joiner: async (value: string, row: string) => value + row,
      left: false,
    });
    const harness = new OperatorHarness(supplier, { stores: [table()] });
    await harness.pipeAll([['0', 'A', 5]]);
    expect(harness.out).toEqual([['0', 'Aa', 5]]);
  });
});

describe('stream–global-table join', () => {
  const keyOf = (value: string): string | null => value.split(',')[1] ?? null;

  it('inner: joins by the made key and keeps the stream’s key, null included', async () => {
    const supplier = streamGlobalTableJoinOperator({ storeName: 't', keyOf, joiner, left: false });
    const harness = new OperatorHarness(supplier, { stores: [table()] });
    await harness.pipeAll([
      ['x', 'A,0', 5],
      [null, 'B,0', 6],
      ['x', 'C,9', 7],
    ]);
    expect(harness.out).toEqual([
      ['x', 'x:A,0-a', 5],
      [null, 'null:B,0-a', 6],
    ]);
    expect(harness.drops).toEqual([]);
  });

  it('inner: a made key of null is dropped and counted', async () => {
    const supplier = streamGlobalTableJoinOperator({ storeName: 't', keyOf, joiner, left: false });
    const harness = new OperatorHarness(supplier, { stores: [table()] });
    await harness.pipeAll([
      ['x', 'A'],
      ['x', null],
    ]);
    expect(harness.out).toEqual([]);
    expect(harness.drops).toEqual(['null-join-key', 'null-value']);
  });

  it('left: a made key of null joins with null (KIP-962)', async () => {
    const supplier = streamGlobalTableJoinOperator({ storeName: 't', keyOf, joiner, left: true });
    const harness = new OperatorHarness(supplier, { stores: [table()] });
    await harness.pipeAll([
      ['x', 'A', 1],
      ['x', 'B,9', 2],
    ]);
    expect(harness.out).toEqual([
      ['x', 'x:A-null', 1],
      ['x', 'x:B,9-null', 2],
    ]);
  });

  it('async functions give the same result', async () => {
    const supplier = streamGlobalTableJoinOperator({
      storeName: 't',
      keyOf: async (value: string) => keyOf(value),
      joiner: async (value: string, row: string) => value + row,
      left: false,
    });
    const harness = new OperatorHarness(supplier, { stores: [table()] });
    await harness.pipeAll([['x', 'A,0', 5]]);
    expect(harness.out).toEqual([['x', 'A,0a', 5]]);
  });
});
