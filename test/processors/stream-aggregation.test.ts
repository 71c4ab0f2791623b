import { describe, expect, it } from '@jest/globals';
import { Change } from '../../src/processors/operator.js';
import { streamAggregateOperator } from '../../src/processors/stream-aggregate.js';
import { streamCountOperator } from '../../src/processors/stream-count.js';
import { streamReduceOperator } from '../../src/processors/stream-reduce.js';
import { FakeKeyValueStore, FakeWindowStore } from './harness/fake-stores.js';
import { OperatorHarness } from './harness/operator-harness.js';

const aggregate = (emit: 'onUpdate' | 'onCommit' | null = 'onUpdate') => {
  const store = new FakeKeyValueStore<string, string>('st');
  const supplier = streamAggregateOperator({
    storeName: 'st',
    initializer: () => '0',
    aggregator: (all: string, value: string) => (value === 'delete' ? null : `${all}+${value}`),
    emit,
  });
  return { store, supplier };
};

describe('aggregation of a stream by key', () => {
  it('starts from the initial value and adds records in the order of arrival', async () => {
    const { store, supplier } = aggregate();
    const harness = new OperatorHarness(supplier, { stores: [store] });
    await harness.pipeAll([
      ['A', '1', 10],
      ['B', '2', 11],
      ['A', '4', 20],
    ]);
    expect(harness.out).toEqual([
      ['A', '0+1', 10],
      ['B', '0+2', 11],
      ['A', '0+1+4', 20],
    ]);
  });

  it('a row’s timestamp is the highest of its records', async () => {
    const { store, supplier } = aggregate();
    const harness = new OperatorHarness(supplier, { stores: [store] });
    await harness.pipeAll([
      ['A', '1', 10],
      ['A', '2', 5],
    ]);
    expect(harness.out.at(-1)).toEqual(['A', '0+1+2', 10]);
    expect(store.getWithTimestamp('A')).toEqual({ value: '0+1+2', timestamp: 10 });
  });

  it('records without a key or a value are dropped and counted', async () => {
    const { store, supplier } = aggregate();
    const harness = new OperatorHarness(supplier, { stores: [store] });
    await harness.pipeAll([
      [null, '3', 11],
      ['A', null, 12],
    ]);
    expect(harness.out).toEqual([]);
    expect(harness.drops).toEqual(['null-key', 'null-value']);
  });

  it('an aggregate of null deletes the row; the next record starts anew', async () => {
    const { store, supplier } = aggregate();
    const harness = new OperatorHarness(supplier, { stores: [store] });
    await harness.pipeAll([
      ['A', '1', 10],
      ['A', 'delete', 11],
      ['A', '2', 5],
    ]);
    expect(harness.out).toEqual([
      ['A', '0+1', 10],
      ['A', null, 11],
      ['A', '0+2', 5],
    ]);
  });

  it('changes carry the row before and after', async () => {
    const { store, supplier } = aggregate();
    const harness = new OperatorHarness(supplier, { stores: [store] });
    await harness.pipeAll([
      ['A', '1'],
      ['A', '2'],
    ]);
    expect(harness.output.sent.map(({ value }) => value)).toEqual([new Change('0+1', null), new Change('0+1+2', '0+1')]);
  });

  it('onCommit emits once a key at the barrier, with the row at the last barrier as the old one', async () => {
    const { store, supplier } = aggregate('onCommit');
    const harness = new OperatorHarness(supplier, { stores: [store] });
    await harness.pipeAll([
      ['A', '1', 1],
      ['B', '1', 2],
      ['A', '2', 3],
    ]);
    expect(harness.out).toEqual([]);
    await harness.flush();
    expect(harness.out).toEqual([
      ['A', '0+1+2', 3],
      ['B', '0+1', 2],
    ]);
    await harness.pipeAll([['A', '3', 4]]);
    await harness.flush();
    expect(harness.output.sent.at(-1)?.value).toEqual(new Change('0+1+2+3', '0+1+2'));
  });

  it('onCommit says nothing of a row that came and went within the epoch', async () => {
    const { store, supplier } = aggregate('onCommit');
    const harness = new OperatorHarness(supplier, { stores: [store] });
    await harness.pipeAll([
      ['A', '1'],
      ['A', 'delete'],
    ]);
    await harness.flush();
    expect(harness.out).toEqual([]);
  });

  it('without a setting of its own it emits as the app does', async () => {
    const { store, supplier } = aggregate(null);
    const harness = new OperatorHarness(supplier, { stores: [store], defaultEmit: 'onCommit' });
    await harness.pipeAll([['A', '1']]);
    expect(harness.out).toEqual([]);
    await harness.flush();
    expect(harness.out).toEqual([['A', '0+1', 0]]);
  });

  it('async functions give the same rows', async () => {
    const store = new FakeKeyValueStore<string, string>('st');
    const supplier = streamAggregateOperator({
      storeName: 'st',
      initializer: () => Promise.resolve('0'),
      aggregator: async (all: string, value: string) => `${all}+${value}`,
      emit: 'onUpdate',
    });
    const harness = new OperatorHarness(supplier, { stores: [store] });
    harness.output.slow = true;
    await harness.pipeAll([
      ['A', '1', 10],
      ['A', '2', 5],
    ]);
    expect(harness.out).toEqual([
      ['A', '0+1', 10],
      ['A', '0+1+2', 10],
    ]);
  });

  it('reduce starts from the first value and calls the reducer with the aggregate first', async () => {
    const store = new FakeKeyValueStore<string, string>('st');
    const harness = new OperatorHarness(
      streamReduceOperator({ storeName: 'st', reducer: (a: string, b: string) => `${a}+${b}`, emit: 'onUpdate' }),
      {
        stores: [store],
      },
    );
    await harness.pipeAll([
      ['A', '1', 10],
      ['A', '2', 20],
      ['A', null, 30],
    ]);
    expect(harness.out).toEqual([
      ['A', '1', 10],
      ['A', '1+2', 20],
    ]);
    expect(harness.drops).toEqual(['null-value']);
  });

  it('count counts the records with a value', async () => {
    const store = new FakeKeyValueStore<string, number>('st');
    const harness = new OperatorHarness(streamCountOperator({ storeName: 'st', emit: 'onUpdate' }), { stores: [store] });
    await harness.pipeAll([
      ['A', 'x', 10],
      ['A', null, 11],
      [null, 'x', 12],
      ['A', 'y', 5],
      ['B', 'y', 6],
    ]);
    expect(harness.out).toEqual([
      ['A', 1, 10],
      ['A', 2, 10],
      ['B', 1, 6],
    ]);
    expect(harness.drops).toEqual(['null-value', 'null-key']);
  });

  it('a store of another kind is refused at the start', () => {
    const store = new FakeWindowStore('st', 10, 10);
    expect(() => new OperatorHarness(streamCountOperator({ storeName: 'st', emit: null }), { stores: [store] })).toThrow(
      expect.objectContaining({ code: 'MILL_STORE_WRONG_TYPE' }),
    );
  });
});
