/** What to do with records that fail, and the context handlers see. Names and rules as Kafka Streams' exception handlers (KIP-1033, KIP-1034). */

export type HandlerAnswer = 'fail' | 'continue' | 'deadLetter';

export interface FailedRecord {
  /** Node that failed; the source node for undecodable records. */
  readonly node: string;
  readonly taskId: string;
  /** Input record that was in work; null for emissions at a barrier and punctuations. */
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
}

export type DeserializationHandler = HandlerAnswer | ((error: Error, record: FailedRecord) => HandlerAnswer | Promise<HandlerAnswer>);
export type ProcessingHandler =
  | HandlerAnswer
  | ((error: Error, record: FailedRecord & { readonly key: unknown; readonly value: unknown }) => HandlerAnswer | Promise<HandlerAnswer>);
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
