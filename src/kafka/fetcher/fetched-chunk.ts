import type { AbortedTransaction } from '../port.js';

/** What one fetch brought of one partition: whole record batches, in the order of the log. */
export interface FetchedChunk {
  readonly topic: string;
  readonly partition: number;
  /** Id of the topic that the offsets belong to; null when the brokers tell none. */
  readonly topicId: string | null;
  /** The offset asked for. The first batch may begin before it: records below it are to be passed over. */
  readonly fetchOffset: number;
  /** Where the next chunk begins: behind the last batch in here, control batches and compacted gaps included. */
  readonly nextOffset: number;
  /** Record batches as the broker sent them, a view into the response; never a cut one. */
  readonly records: Buffer;
  /** Complete for the offsets in here, whatever earlier chunks said. */
  readonly abortedTransactions: readonly AbortedTransaction[];
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly logStartOffset: number;
  /** Bytes that count against the fetcher's bounds until `consumed` gives them back. */
  readonly byteLength: number;
  /** True for the chunk, without records, that tells of a position set anew by policy: `fetchOffset` may lie before what came earlier. */
  readonly reset?: boolean;
}
