import { describe, expect, it } from '@jest/globals';
import { branchOperator } from '../../src/processors/branch.js';
import { dropNullKeyOperator } from '../../src/processors/drop-null-key.js';
import { filterOperator } from '../../src/processors/filter.js';
import { flatMapValuesOperator } from '../../src/processors/flat-map-values.js';
import { flatMapOperator } from '../../src/processors/flat-map.js';
import { foreachOperator } from '../../src/processors/foreach.js';
import { mapValuesOperator } from '../../src/processors/map-values.js';
import { mapOperator } from '../../src/processors/map.js';
import { Change } from '../../src/processors/operator.js';
import { passThroughOperator } from '../../src/processors/pass-through.js';
import { peekOperator } from '../../src/processors/peek.js';
import type { RecordMeta } from '../../src/processors/record-meta.js';
import { selectKeyOperator } from '../../src/processors/select-key.js';
import { toStreamOperator } from '../../src/processors/to-stream.js';
import { OperatorHarness } from './harness/operator-harness.js';

/** The same function, answering at once or by a promise: both must give the same records in the same order. */
const modes: readonly (readonly [string, <T>(value: T) => T])[] = [
  ['at once', <T>(value: T): T => value],
  ['by a promise', <T>(value: T): T => Promise.resolve(value) as T],
];

describe.each(modes)('user functions that answer %s', (_name, answer) => {
  it('filter passes on what the predicate holds for', async () => {
    const harness = new OperatorHarness(filterOperator((value: number) => answer(value % 2 === 0)));
    await harness.pipeAll([
      ['a', 1, 10],
      ['b', 2, 11],
      [null, 4, 12],
    ]);
    expect(harness.out).toEqual([
      ['b', 2, 11],
      [null, 4, 12],
    ]);
  });

  it('filterNot passes on the rest', async () => {
    const harness = new OperatorHarness(filterOperator((value: number) => answer(value % 2 === 0), true));
    await harness.pipeAll([
      ['a', 1],
      ['b', 2],
    ]);
    expect(harness.out).toEqual([['a', 1, 0]]);
  });

  it('map gives key and value', async () => {
    const harness = new OperatorHarness(mapOperator((value: number, key: string) => answer([`${key}!`, value + 1] as const)));
    await harness.pipeAll([['a', 1, 10]]);
    expect(harness.out).toEqual([['a!', 2, 10]]);
  });

  it('mapValues keeps the key', async () => {
    const harness = new OperatorHarness(mapValuesOperator((value: number | null) => answer(value === null ? 'none' : `n${value}`)));
    await harness.pipeAll([
      ['a', 1],
      ['a', null],
    ]);
    expect(harness.out).toEqual([
      ['a', 'n1', 0],
      ['a', 'none', 0],
    ]);
  });

  it('selectKey keeps the value', async () => {
    const harness = new OperatorHarness(selectKeyOperator((value: string) => answer(value.length)));
    await harness.pipeAll([['a', 'xyz', 3]]);
    expect(harness.out).toEqual([[3, 'xyz', 3]]);
  });

  it('flatMap gives any number of records', async () => {
    const harness = new OperatorHarness(
      flatMapOperator((value: number, key: string) =>
        answer(Array.from({ length: value }, (_, index) => [`${key}${index}`, index] as const)),
      ),
    );
    await harness.pipeAll([
      ['a', 2, 5],
      ['b', 0, 6],
    ]);
    expect(harness.out).toEqual([
      ['a0', 0, 5],
      ['a1', 1, 5],
    ]);
  });

  it('flatMapValues takes any iterable', async () => {
    const harness = new OperatorHarness(flatMapValuesOperator((value: string) => answer(new Set(value))));
    await harness.pipeAll([['k', 'aba', 5]]);
    expect(harness.out).toEqual([
      ['k', 'a', 5],
      ['k', 'b', 5],
    ]);
  });

  it('peek sees each record before the next operator does', async () => {
    const seen: unknown[] = [];
    const harness = new OperatorHarness(
      peekOperator((value, key) => {
        seen.push([key, value, harness.out.length]);
        return answer<unknown>(null);
      }),
    );
    await harness.pipeAll([
      ['a', 1],
      ['b', 2],
    ]);
    expect(seen).toEqual([
      ['a', 1, 0],
      ['b', 2, 1],
    ]);
    expect(harness.out).toHaveLength(2);
  });

  it('foreach ends the stream', async () => {
    const seen: unknown[] = [];
    const harness = new OperatorHarness(foreachOperator((value, key) => answer(seen.push([key, value]))));
    await harness.pipeAll([['a', 1]]);
    expect(seen).toEqual([['a', 1]]);
    expect(harness.out).toEqual([]);
  });

  it('a branch takes what the branches before it left, the default the rest', async () => {
    const supplier = branchOperator({
      branches: [
        { predicate: (value: number) => answer(value > 100), child: 'large' },
        { predicate: (value: number) => answer(value > 10), child: 'middle' },
      ],
      defaultChild: 'small',
    });
    const harness = new OperatorHarness(supplier, { children: ['large', 'middle', 'small'] });
    await harness.pipeAll([
      ['a', 500],
      ['b', 50],
      ['c', 5],
    ]);
    expect([harness.outOf('large'), harness.outOf('middle'), harness.outOf('small')]).toEqual([
      [['a', 500, 0]],
      [['b', 50, 0]],
      [['c', 5, 0]],
    ]);
  });

  it('without a default branch the rest ends there', async () => {
    const supplier = branchOperator({
      branches: [{ predicate: (value: number) => answer(value > 10), child: 'large' }],
      defaultChild: null,
    });
    const harness = new OperatorHarness(supplier, { children: ['large'] });
    await harness.pipeAll([
      ['a', 50],
      ['b', 5],
    ]);
    expect(harness.outOf('large')).toEqual([['a', 50, 0]]);
  });

  it('several results wait for each other when the next operator has to be awaited', async () => {
    const harness = new OperatorHarness(flatMapValuesOperator((value: string) => answer(value.split(''))));
    harness.output.slow = true;
    await harness.pipeAll([['k', 'abc']]);
    expect(harness.out.map(([, value]) => value)).toEqual(['a', 'b', 'c']);
  });
});

describe('stateless operators', () => {
  it('return nothing when no user function answers by a promise', () => {
    const harness = new OperatorHarness(mapValuesOperator((value: number) => value + 1));
    expect(harness.pipe('a', 1)).toBeUndefined();
  });

  it('user functions are told where the record came from', () => {
    const metas: unknown[] = [];
    const harness = new OperatorHarness(
      peekOperator((_value, _key, meta: RecordMeta) => {
        metas.push({
          topic: meta.topic,
          partition: meta.partition,
          offset: meta.offset,
          timestamp: meta.timestamp,
          headers: meta.headers(),
        });
      }),
    );
    const headers = [{ key: 'h', value: Buffer.from('1') }];
    void harness.pipe('a', 1, 17, headers);
    expect(metas).toEqual([{ topic: 'in', partition: 0, offset: 0, timestamp: 17, headers }]);
  });

  it('a rejected promise rejects the record', async () => {
    const harness = new OperatorHarness(mapValuesOperator(() => Promise.reject(new Error('no'))));
    await expect(harness.pipe('a', 1)).rejects.toThrow('no');
  });

  it('passThrough changes nothing', () => {
    const harness = new OperatorHarness(passThroughOperator());
    void harness.pipe(null, null, 9);
    expect(harness.out).toEqual([[null, null, 9]]);
  });

  it('a record without a key does not go to a repartition topic, and is counted', () => {
    const harness = new OperatorHarness(dropNullKeyOperator());
    void harness.pipe(null, 'v');
    void harness.pipe('k', null);
    expect(harness.out).toEqual([['k', null, 0]]);
    expect(harness.drops).toEqual(['null-repartition-key']);
  });

  it('toStream gives the new value, null for a deleted row', () => {
    const harness = new OperatorHarness(toStreamOperator());
    void harness.pipe('k', new Change('new', 'old'), 1);
    void harness.pipe('k', new Change(null, 'new'), 2);
    expect(harness.output.sent.map(({ value }) => value)).toEqual(['new', null]);
  });
});
