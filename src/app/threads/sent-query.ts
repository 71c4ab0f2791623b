/**
 * Queries and answers on their way between the app and its threads. Keys and values travel as the bytes that the store's serdes make of them, so that they come out as
 * what the serdes give, of whatever class; everything else is plain data already.
 */
import { ByteWriter } from '../../bytes/byte-writer.js';
import { MillraceError } from '../../errors.js';
import type { Element } from '../../queries/element-source.js';
import type { Position } from '../../queries/position.js';
import type { KeyRangeOptions } from '../../queries/query.js';
import type { Question } from '../../queries/store-reads.js';
import type { PartitionFailure } from '../../queries/state-query.js';
import type { CompiledSerde } from '../../serdes/serde.js';
import type { SentError } from './sent-error.js';

export interface StoreSerdes {
  readonly key: CompiledSerde<unknown>;
  readonly value: CompiledSerde<unknown>;
}

/** An answer, or the number under which its thread keeps the rows open. */
export type SentAnswer =
  { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'rows'; readonly sources: readonly number[] };

export interface SentPartition {
  readonly partition: number;
  readonly answer: SentAnswer;
  readonly position: Position;
}

export type SentOutcome =
  | (SentPartition & { readonly ok: true })
  | { readonly ok: false; readonly failure: Omit<PartitionFailure, 'error'>; readonly error: SentError | null };

/** @throws MILL_SERDE for a key that the serde does not take */
export function sendQuestion(question: Question, { key }: StoreSerdes): Question {
  return withKeys(question, (given) => toBytes(key, given));
}

export function receiveQuestion(question: Question, { key }: StoreSerdes): Question {
  return withKeys(question, (bytes) => fromBytesNow(key, bytes));
}

/** The values in an answer. */
export function sendValue(kind: Question['kind'], answer: unknown, { value }: StoreSerdes): unknown {
  return mapValues(kind, answer, (given) => toBytes(value, given));
}

export async function receiveValue(kind: Question['kind'], answer: unknown, { value }: StoreSerdes): Promise<unknown> {
  const waiting: Promise<void>[] = [];
  const found = new Map<unknown, unknown>();
  mapValues(kind, answer, (bytes) => {
    waiting.push(fromBytes(value, bytes).then((decoded) => void found.set(bytes, decoded)));
    return null;
  });
  await Promise.all(waiting);
  return mapValues(kind, answer, (bytes) => found.get(bytes));
}

export function sendElements(elements: readonly Element<unknown>[], { key, value }: StoreSerdes): Element<unknown>[] {
  return elements.map((element) => {
    const row = element.row as SentRow;
    return { ...element, row: { ...row, key: toBytes(key, row.key), value: toBytes(value, row.value) } };
  });
}

export function receiveElements(elements: readonly Element<unknown>[], { key, value }: StoreSerdes): Promise<Element<unknown>[]> {
  return Promise.all(
    elements.map(async (element) => {
      const row = element.row as SentRow;
      return { ...element, row: { ...row, key: await fromBytes(key, row.key), value: await fromBytes(value, row.value) } };
    }),
  );
}

/** Rows of all kinds have these. */
interface SentRow {
  readonly key: unknown;
  readonly value: unknown;
}

function withKeys(question: Question, map: (key: unknown) => unknown): Question {
  if ('key' in question) return { ...question, key: map(question.key) };
  if (question.kind === 'range') return { ...question, options: { ...question.options, ...bounds(question.options, map) } };
  if (question.kind !== 'windowRange' && question.kind !== 'sessionRange') return question;
  const { keys } = question.options;
  return keys === undefined ? question : { ...question, options: { ...question.options, keys: { ...keys, ...bounds(keys, map) } } };
}

function bounds({ from, to }: KeyRangeOptions<unknown>, map: (key: unknown) => unknown): KeyRangeOptions<unknown> {
  return { ...(from !== undefined && { from: map(from) }), ...(to !== undefined && { to: map(to) }) };
}

function mapValues(kind: Question['kind'], answer: unknown, map: (value: unknown) => unknown): unknown {
  if (answer === null || answer === undefined) return answer;
  switch (kind) {
    case 'key':
    case 'window':
    case 'session':
      return map(answer);
    case 'timestampedKey':
    case 'versionedKey':
      return withValue(answer, map);
    case 'versionHistory':
      return (answer as readonly unknown[]).map((version) => withValue(version, map));
    default:
      return answer;
  }
}

function withValue(holder: unknown, map: (value: unknown) => unknown): unknown {
  const { value, ...more } = holder as { readonly value: unknown };
  return { ...more, value: value === null ? null : map(value) };
}

function toBytes(serde: CompiledSerde<unknown>, value: unknown): Uint8Array | null {
  if (value === null || value === undefined) return null;
  const out = new ByteWriter(64);
  serde.encode(value, out);
  return out.copy();
}

async function fromBytes(serde: CompiledSerde<unknown>, bytes: unknown): Promise<unknown> {
  if (bytes === null) return null;
  const buffer = asBuffer(bytes);
  return serde.decode(buffer, 0, buffer.length);
}

function fromBytesNow(serde: CompiledSerde<unknown>, bytes: unknown): unknown {
  if (bytes === null) return null;
  const buffer = asBuffer(bytes);
  return serde.decodeSync(buffer, 0, buffer.length);
}

/** Bytes that come from another thread are no Buffer any more. */
function asBuffer(bytes: unknown): Buffer {
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  throw new MillraceError('MILL_INVARIANT', 'a thread sent something else than bytes');
}
