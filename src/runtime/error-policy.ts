/** What to do with records that fail, and the context handlers see. Names and rules as Kafka Streams' exception handlers (KIP-1033, KIP-1034). */

/** `fail`: the error goes to the uncaught-error handler. `continue`: the record is left out, counted and logged. `deadLetter`: it goes to `deadLetterTopic`. */
export type HandlerAnswer = 'fail' | 'continue' | 'deadLetter';

/** The record that failed, and where. */
export interface FailedRecord {
  /** Node that failed; the source node for undecodable records. */
  readonly node: string;
  /** Sub-topology and partition: `0_3`. */
  readonly taskId: string;
  /** Input record that was in work; null for emissions at a barrier and punctuations. */
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
  /** ms since the epoch. */
  readonly timestamp: number;
}

/** For input records that a serde can't read. */
export type DeserializationHandler = HandlerAnswer | ((error: Error, record: FailedRecord) => HandlerAnswer | Promise<HandlerAnswer>);
/** For records that a user function throws or rejects on. */
export type ProcessingHandler =
  | HandlerAnswer
  | ((error: Error, record: FailedRecord & { readonly key: unknown; readonly value: unknown }) => HandlerAnswer | Promise<HandlerAnswer>);
/** For output records that can't be encoded, or are too large for their topic. */
export type ProductionHandler =
  HandlerAnswer | ((error: Error, record: FailedRecord & { readonly outputTopic: string }) => HandlerAnswer | Promise<HandlerAnswer>);

export interface ErrorPolicy {
  readonly deserialization: DeserializationHandler;
  readonly processing: ProcessingHandler;
  readonly production: ProductionHandler;
  /** Where 'deadLetter' records go; null: 'deadLetter' is refused when the app is built. */
  readonly deadLetterTopic: string | null;
}

export const failAlways: ErrorPolicy = { deserialization: 'fail', processing: 'fail', production: 'fail', deadLetterTopic: null };

/** Asks a handler, whatever its form. */
export function askHandler<R>(
  handler: HandlerAnswer | ((error: Error, record: R) => HandlerAnswer | Promise<HandlerAnswer>),
  error: Error,
  record: R,
): HandlerAnswer | Promise<HandlerAnswer> {
  return typeof handler === 'function' ? handler(error, record) : handler;
}
