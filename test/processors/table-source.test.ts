import { describe, expect, it } from '@jest/globals';
import { Change } from '../../src/processors/operator.js';
import { tableSourceOperator } from '../../src/processors/table-source.js';
import { FakeKeyValueStore } from './harness/fake-stores.js';
import { OperatorHarness } from './harness/operator-harness.js';

const changes = (harness: OperatorHarness): unknown[] => harness.output.sent.map(({ key, value, timestamp }) => [key, value, timestamp]);

describe('table source', () => {
  it('passes every update on, tombstones included', async () => {
    const store = new FakeKeyValueStore<string, string>('t');
    const harness = new OperatorHarness(tableSourceOperator({ storeName: 't', emit: 'onUpdate' }), { stores: [store] });
    await harness.pipeAll([
      ['A', '1', 10],
      ['A', '2', 11],
      ['A', null, 14],
      ['B', null, 15],
    ]);
    expect(changes(harness)).toEqual([
      ['A', new Change('1', null), 10],
      ['A', new Change('2', '1'), 11],
      ['A', new Change(null, '2'), 14],
      ['B', new Change(null, null), 15],
    ]);
  });

  it('the last one to arrive wins, also when it is older', async () => {
    const store = new FakeKeyValueStore<string, string>('t');
    const harness = new OperatorHarness(tableSourceOperator({ storeName: 't', emit: 'onUpdate' }), { stores: [store] });
    await harness.pipeAll([
      ['key', 'new', 10],
      ['key', 'late', 5],
    ]);
    expect(harness.out).toEqual([
      ['key', 'new', 10],
      ['key', 'late', 5],
    ]);
    expect(store.getWithTimestamp('key')).toEqual({ value: 'late', timestamp: 5 });
  });

  it('a record without a key is dropped and counted', async () => {
    const harness = new OperatorHarness(tableSourceOperator({ storeName: 't', emit: 'onUpdate' }), {
      stores: [new FakeKeyValueStore('t')],
    });
    await harness.pipeAll([[null, '1']]);
    expect(harness.out).toEqual([]);
    expect(harness.drops).toEqual(['null-key']);
  });

  it('old values can be left out', async () => {
    const store = new FakeKeyValueStore<string, string>('t');
    const harness = new OperatorHarness(tableSourceOperator({ storeName: 't', emit: 'onUpdate', sendOldValues: false }), {
      stores: [store],
    });
    await harness.pipeAll([
      ['A', '1'],
      ['A', '2'],
    ]);
    expect(harness.output.sent.at(-1)?.value).toEqual(new Change('2', null));
  });

  it('onCommit emits the last row of the epoch', async () => {
    const store = new FakeKeyValueStore<string, string>('t');
    const harness = new OperatorHarness(tableSourceOperator({ storeName: 't', emit: 'onCommit' }), { stores: [store] });
    await harness.pipeAll([
      ['A', '1', 10],
      ['A', '2', 11],
    ]);
    await harness.flush();
    await harness.pipeAll([['A', null, 12]]);
    await harness.flush();
    expect(changes(harness)).toEqual([
      ['A', new Change('2', null), 11],
      ['A', new Change(null, '2'), 12],
    ]);
  });

  it('without a store it passes changes on without old values', async () => {
    const harness = new OperatorHarness(tableSourceOperator({ storeName: null, emit: null }), { defaultEmit: 'onCommit' });
    await harness.pipeAll([
      ['A', '1', 10],
      ['A', '2', 11],
      [null, '2', 11],
    ]);
    expect(changes(harness)).toEqual([
      ['A', new Change('1', null), 10],
      ['A', new Change('2', null), 11],
    ]);
    expect(harness.drops).toEqual(['null-key']);
  });
});
