import { describe, expect, it } from '@jest/globals';
import type { AbortedTransaction } from '../../../src/kafka/port.js';
import { encode, marker, openCursor, readAll, record, valuesOf } from './batches.js';

/** A log of one producer's data and markers, each at the next offset. */
class Log {
  private readonly parts: Buffer[] = [];
  private offset = 0;

  data(producerId: bigint, ...values: string[]): this {
    const transactional = producerId >= 0n;
    const identity = transactional ? { producerId, producerEpoch: 0, transactional } : null;
    this.parts.push(
      encode(
        values.map((value) => record(value)),
        { baseOffset: this.offset, identity },
      ),
    );
    this.offset += values.length;
    return this;
  }

  commit(producerId: bigint): this {
    this.parts.push(marker('commit', producerId, this.offset++));
    return this;
  }

  abort(producerId: bigint): this {
    this.parts.push(marker('abort', producerId, this.offset++));
    return this;
  }

  read(isolation: 'read_committed' | 'read_uncommitted', abortedTransactions: AbortedTransaction[], fetchOffset = 0) {
    const cursor = openCursor(Buffer.concat(this.parts), { isolation, abortedTransactions, fetchOffset });
    const values = valuesOf(readAll(cursor));
    return { values, nextOffset: cursor.nextOffset };
  }
}

const aborted = (producerId: bigint, firstOffset: number): AbortedTransaction => ({ producerId, firstOffset });

describe('read_committed', () => {
  it('passes over control batches and ends after them', () => {
    const log = new Log().data(1n, 'a', 'b').commit(1n);
    expect(log.read('read_committed', [])).toEqual({ values: ['a', 'b'], nextOffset: 3 });
  });

  it('leaves out an aborted transaction, and what was written before and after it stays', () => {
    const log = new Log().data(1n, 'a').commit(1n).data(1n, 'x').data(1n, 'y').abort(1n).data(1n, 'b').commit(1n);
    expect(log.read('read_committed', [aborted(1n, 2)])).toEqual({ values: ['a', 'b'], nextOffset: 7 });
  });

  it('tells interleaved producers apart; plain records are always data', () => {
    const log = new Log().data(1n, 'a').data(2n, 'x').data(-1n, 'plain').data(1n, 'b').abort(2n).data(2n, 'c').commit(1n).commit(2n);
    expect(log.read('read_committed', [aborted(2n, 1)])).toEqual({ values: ['a', 'plain', 'b', 'c'], nextOffset: 8 });
  });

  it('handles several aborted transactions of one producer, listed in any order', () => {
    const log = new Log().data(1n, 'x').abort(1n).data(1n, 'a').commit(1n).data(1n, 'y').abort(1n);
    expect(log.read('read_committed', [aborted(1n, 4), aborted(1n, 0)])).toEqual({ values: ['a'], nextOffset: 6 });
  });

  it('knows an aborted transaction that began before the fetched bytes', () => {
    const log = new Log().data(1n, 'w', 'x', 'y').abort(1n).data(1n, 'a');
    expect(log.read('read_committed', [aborted(1n, 0)], 2)).toEqual({ values: ['a'], nextOffset: 5 });
  });

  it('moves past a chunk that holds nothing else', () => {
    expect(new Log().data(1n, 'x', 'y').read('read_committed', [aborted(1n, 0)])).toEqual({ values: [], nextOffset: 2 });
    expect(new Log().abort(1n).read('read_committed', [])).toEqual({ values: [], nextOffset: 1 });
  });

  it('forgets the aborted producers when another chunk is opened', () => {
    const chunk = encode([record('x')], { identity: { producerId: 1n, producerEpoch: 0, transactional: true } });
    const cursor = openCursor(chunk, { abortedTransactions: [aborted(1n, 0)] });
    expect(cursor.next()).toBe(false);
    openCursor(chunk, {}, cursor);
    expect(valuesOf(readAll(cursor))).toEqual(['x']);
  });
});

describe('read_uncommitted', () => {
  it('reads aborted data too, but no control batch', () => {
    const log = new Log().data(1n, 'x').abort(1n).data(2n, 'a').commit(2n);
    expect(log.read('read_uncommitted', [aborted(1n, 0)])).toEqual({ values: ['x', 'a'], nextOffset: 4 });
  });
});
