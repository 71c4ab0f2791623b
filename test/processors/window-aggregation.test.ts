import { describe, expect, it } from '@jest/globals';
import { Change } from '../../src/processors/operator.js';
import { windowAggregateOperator } from '../../src/processors/window-aggregate.js';
import { windowCountOperator } from '../../src/processors/window-count.js';
import { windowReduceOperator } from '../../src/processors/window-reduce.js';
import { hopping, tumbling, type TimeWindows } from '../../src/time/time-windows.js';
import { FakeWindowStore } from './harness/fake-stores.js';
import { OperatorHarness } from './harness/operator-harness.js';

type Emit = 'onUpdate' | 'onCommit' | 'onWindowClose' | null;

const storeFor = <V>(windows: TimeWindows) => new FakeWindowStore<string, V>('st', windows.size, windows.size + windows.grace);

const counting = (windows: TimeWindows, emit: Emit = 'onUpdate', store = storeFor<number>(windows)) =>
  new OperatorHarness(windowCountOperator({ storeName: 'st', windows, emit }), { stores: [store] });

const joining = (windows: TimeWindows, emit: Emit = 'onUpdate') =>
  new OperatorHarness(
    windowAggregateOperator({
      storeName: 'st',
      windows,
      emit,
      initializer: () => '0',
      aggregator: (all: string, value: string) => `${all}+${value}`,
    }),
    { stores: [storeFor<string>(windows)] },
  );

describe('aggregation by key and window', () => {
  it('a record is in every window that holds it, by ascending start', async () => {
    const harness = joining(hopping({ size: 10, advance: 5 }));
    await harness.pipeAll([
      ['A', '1', 0],
      ['A', '2', 5],
      ['B', '3', 10],
    ]);
    expect(harness.out).toEqual([
      ['[A@0/10]', '0+1', 0],
      ['[A@0/10]', '0+1+2', 5],
      ['[A@5/15]', '0+2', 5],
      ['[B@5/15]', '0+3', 10],
      ['[B@10/20]', '0+3', 10],
    ]);
  });

  it('a row’s timestamp is the highest of its records', async () => {
    const harness = counting(tumbling({ size: 10 }));
    await harness.pipeAll([
      ['A', 'x', 7],
      ['A', 'x', 3],
    ]);
    expect(harness.out).toEqual([
      ['[A@0/10]', 1, 7],
      ['[A@0/10]', 2, 7],
    ]);
  });

  it('a window whose end stream time minus grace has reached is closed: records for it are dropped and counted, once a window', async () => {
    const harness = counting(hopping({ size: 10, advance: 5, grace: 0 }));
    await harness.pipeAll([
      ['A', 'x', 100],
      ['A', 'x', 50],
      ['A', 'x', 93],
    ]);
    expect(harness.out).toEqual([
      ['[A@95/105]', 1, 100],
      ['[A@100/110]', 1, 100],
    ]);
    expect(harness.drops).toEqual(['late', 'late', 'late', 'late']);
  });

  it('within its grace a window takes late records', async () => {
    const harness = counting(tumbling({ size: 10, grace: 5 }));
    await harness.pipeAll([
      ['A', 'x', 14],
      ['A', 'x', 9],
      ['A', 'x', 15],
      ['A', 'x', 9],
    ]);
    expect(harness.out).toEqual([
      ['[A@10/20]', 1, 14],
      ['[A@0/10]', 1, 9],
      ['[A@10/20]', 2, 15],
    ]);
    expect(harness.drops).toEqual(['late']);
  });

  it('a record without a key is dropped and moves no time', async () => {
    const harness = counting(tumbling({ size: 10 }));
    await harness.pipeAll([
      [null, 'x', 1000],
      ['A', 'x', 1],
    ]);
    expect(harness.out).toEqual([['[A@0/10]', 1, 1]]);
    expect(harness.drops).toEqual(['null-key']);
  });

  it('a record without a value goes to the aggregator, as in Kafka Streams', async () => {
    const harness = joining(tumbling({ size: 10 }));
    await harness.pipeAll([['A', null, 1]]);
    expect(harness.out).toEqual([['[A@0/10]', '0+null', 1]]);
  });

  it('reduce calls the reducer with the aggregate first', async () => {
    const windows = tumbling({ size: 10 });
    const harness = new OperatorHarness(
      windowReduceOperator({ storeName: 'st', windows, emit: 'onUpdate', reducer: (all: string, value: string) => `${all}+${value}` }),
      { stores: [storeFor<string>(windows)] },
    );
    await harness.pipeAll([
      ['A', '1', 1],
      ['A', '2', 2],
    ]);
    expect(harness.out).toEqual([
      ['[A@0/10]', '1', 1],
      ['[A@0/10]', '1+2', 2],
    ]);
  });

  it('onCommit emits each changed window once', async () => {
    const harness = counting(tumbling({ size: 10 }), 'onCommit');
    await harness.pipeAll([
      ['A', 'x', 1],
      ['A', 'x', 11],
      ['A', 'x', 12],
    ]);
    expect(harness.out).toEqual([]);
    await harness.flush();
    expect(harness.out).toEqual([
      ['[A@0/10]', 1, 1],
      ['[A@10/20]', 2, 12],
    ]);
    await harness.pipeAll([['A', 'x', 13]]);
    await harness.flush();
    expect(harness.output.sent.at(-1)?.value).toEqual(new Change(3, 2));
  });

  it('async functions and an async next operator keep the order of windows', async () => {
    const windows = hopping({ size: 10, advance: 5 });
    const supplier = windowAggregateOperator({
      storeName: 'st',
      windows,
      emit: 'onUpdate',
      initializer: async () => '0',
      aggregator: async (all: string, value: string) => `${all}+${value}`,
    });
    const harness = new OperatorHarness(supplier, { stores: [storeFor<string>(windows)] });
    harness.output.slow = true;
    await harness.pipeAll([
      ['A', '1', 5],
      ['A', '2', 7],
    ]);
    expect(harness.out).toEqual([
      ['[A@0/10]', '0+1', 5],
      ['[A@5/15]', '0+1', 5],
      ['[A@0/10]', '0+1+2', 7],
      ['[A@5/15]', '0+1+2', 7],
    ]);
  });
});

describe('final results', () => {
  it('a window leaves when stream time has passed its end and grace, in order of start and key', async () => {
    const harness = joining(hopping({ size: 10, advance: 5, grace: 5 }), 'onWindowClose');
    await harness.pipeAll([
      ['B', '2', 1],
      ['A', '1', 0],
      ['A', '1', 9],
      ['A', '1', 14],
    ]);
    expect(harness.out).toEqual([]);
    await harness.pipeAll([['A', '1', 15]]);
    expect(harness.out).toEqual([
      ['[A@0/10]', '0+1+1', 9],
      ['[B@0/10]', '0+2', 1],
    ]);
  });

  it('nothing is lost when time jumps far', async () => {
    const harness = counting(tumbling({ size: 10 }), 'onWindowClose');
    await harness.pipeAll([
      ['A', '1', 0],
      ['A', '1', 11],
      ['A', '1', 1000],
    ]);
    expect(harness.out).toEqual([
      ['[A@0/10]', 1, 0],
      ['[A@10/20]', 1, 11],
    ]);
  });

  it('a window leaves only once', async () => {
    const harness = counting(tumbling({ size: 10 }), 'onWindowClose');
    await harness.pipeAll([
      ['A', '1', 0],
      ['A', '1', 10],
      ['A', '1', 9],
      ['A', '1', 12],
      ['A', '1', 19],
    ]);
    expect(harness.out).toEqual([['[A@0/10]', 1, 0]]);
    expect(harness.drops).toEqual(['late']);
  });

  it('results that have to be awaited leave before the record that closed them is written', async () => {
    const harness = counting(tumbling({ size: 10 }), 'onWindowClose');
    harness.output.slow = true;
    await harness.pipeAll([
      ['A', '1', 0],
      ['B', '1', 0],
      ['A', '1', 10],
      ['A', '1', 20],
    ]);
    expect(harness.out).toEqual([
      ['[A@0/10]', 1, 0],
      ['[B@0/10]', 1, 0],
      ['[A@10/20]', 1, 10],
    ]);
  });
});

describe('after a restart', () => {
  it('stream time goes on where the store left it: a closed window stays closed', async () => {
    const windows = tumbling({ size: 10 });
    const store = storeFor<number>(windows);
    await counting(windows, 'onUpdate', store).pipeAll([
      ['A', 'x', 1],
      ['A', 'x', 25],
    ]);
    const again = counting(windows, 'onUpdate', store);
    await again.pipeAll([
      ['A', 'x', 5],
      ['A', 'x', 21],
    ]);
    expect(again.out).toEqual([['[A@20/30]', 2, 25]]);
    expect(again.drops).toEqual(['late']);
  });

  it('windows closed before it are not sent again, those after it are', async () => {
    const windows = tumbling({ size: 10 });
    const store = storeFor<number>(windows);
    await counting(windows, 'onWindowClose', store).pipeAll([
      ['A', 'x', 1],
      ['A', 'x', 15],
    ]);
    store.forgetDrained();
    const again = counting(windows, 'onWindowClose', store);
    await again.pipeAll([['A', 'x', 20]]);
    expect(again.out).toEqual([['[A@10/20]', 1, 15]]);
  });
});
