import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import type { IsolationLevel, TopicPartition } from '../kafka/port.js';
import { RecordCursor } from '../kafka/record-batch/record-cursor.js';
import type { TaskState } from '../stores/task-state.js';
import type { ChangelogToRestore } from './changelog-bounds.js';

/** How many records are applied between two looks at the clock. */
const recordsPerLook = 64;

/** Applies changelog records to a store, chunk after chunk: what a restore and a standby have in common. */
export class ChangelogApplier {
  /** Next offset to apply; a chunk counts when it is applied to its end. */
  position: number;
  /** Records applied, in all. */
  records = 0;
  private readonly cursor = new RecordCursor();
  /** What begins here is not for the store yet. */
  private readonly upTo: number;

  constructor(
    private readonly state: TaskState,
    private readonly changelog: TopicPartition & Pick<ChangelogToRestore, 'store' | 'upTo'>,
    private readonly isolation: IsolationLevel,
    from: number,
  ) {
    this.upTo = changelog.upTo ?? Infinity;
    this.position = from;
  }

  open(chunk: FetchedChunk): void {
    const { topic, partition } = this.changelog;
    this.cursor.open(chunk.records, {
      fetchOffset: chunk.fetchOffset,
      isolation: this.isolation,
      abortedTransactions: chunk.abortedTransactions,
      topic,
      partition,
    });
  }

  /** Applies the open chunk until its end or, about, `deadline` (of `now`, ms); true at the end. */
  apply(deadline: number, now: () => number): boolean {
    const { cursor, state } = this;
    const { store } = this.changelog;
    let untilLook = recordsPerLook;
    while (cursor.next()) {
      if (cursor.offset >= this.upTo) break;
      if (cursor.keyStart < 0) continue;
      const value = cursor.valueStart < 0 ? null : cursor.buffer;
      state.restoreRecord(
        store,
        cursor.timestamp,
        cursor.buffer,
        cursor.keyStart,
        cursor.keyEnd,
        value,
        cursor.valueStart,
        cursor.valueEnd,
      );
      this.records++;
      if (--untilLook > 0) continue;
      if (now() >= deadline) return false;
      untilLook = recordsPerLook;
    }
    this.position = Math.max(this.position, Math.min(cursor.nextOffset, this.upTo));
    return true;
  }
}
