/**
 * Which producers' transactional records are aborted at the place where a read_committed reader stands.
 *
 * The broker lists, beside the fetched batches, the aborted transactions that reach into them: producer and first offset. A transaction's
 * range starts there and ends at that producer's abort marker; batches must be shown in offset order (Kafka's consumer keeps the same
 * two collections).
 */
import type { AbortedTransaction } from '../port.js';

export class AbortedProducers {
  private pending: readonly AbortedTransaction[] = [];
  private next = 0;
  private readonly active = new Set<bigint>();

  /** Starts on another fetched chunk. */
  reset(transactions: readonly AbortedTransaction[]): void {
    this.pending = transactions.length < 2 ? transactions : [...transactions].sort((a, b) => a.firstOffset - b.firstOffset);
    this.next = 0;
    this.active.clear();
  }

  /** Every transaction that starts at or before `offset` is now in its range. */
  advanceTo(offset: number): void {
    for (; this.next < this.pending.length; this.next++) {
      const transaction = this.pending[this.next] as AbortedTransaction;
      if (transaction.firstOffset > offset) return;
      this.active.add(transaction.producerId);
    }
  }

  /** The producer's abort marker was met: what it writes from here on is another transaction. */
  endOf(producerId: bigint): void {
    this.active.delete(producerId);
  }

  has(producerId: bigint): boolean {
    return this.active.has(producerId);
  }
}
