/**
 * The metadata string that goes with every committed offset: which epoch of which producer committed it, and how far stream time was.
 *
 * A new owner of the partition takes its stream time from it, and finds in it the transactional id that may hold offsets back. Written
 * by the epoch coordinator, read when a task opens. Strings of other tools and of later versions are not an error: they read as null, or without the fields
 * that are not known here.
 */
import { MillraceError } from '../errors.js';

/** What a task did at the end of its input: read up to it only, or told its final results too. */
export type InputEnd = 'read' | 'final';

export interface CommittedMetadata {
  /** Number of the barrier epoch. */
  readonly epoch: number;
  /** null under at-least-once. */
  readonly transactionalId: string | null;
  /** Highest timestamp (ms) taken from the partition, or its watermark; -1 when there is none. */
  readonly partitionTime: number;
  /** Event time of the task, ms; absent or -Infinity when it has none. */
  readonly watermark?: number;
  /** Id of the topic that the offset is a position in; absent or null when it is not known. */
  readonly topicId?: string | null;
  /** What upstream tasks have told of their event time through the partition, as text; absent when none does. */
  readonly marks?: string;
  /** How the task had ended its input at this offset, in a bounded run; absent or null when it had not. */
  readonly ended?: InputEnd | null;
  /** Results are held until the end of the input, in batch mode; absent when there are none. */
  readonly holdsResults?: boolean;
  /** Fields of other versions, kept as they are. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The broker's default of `offset.metadata.max.bytes`. */
export const MAX_METADATA_BYTES = 4096;

const PREFIX = 'millrace1';

/** @throws MILL_INVARIANT when it gets longer than a broker takes */
export function encodeCommittedMetadata(metadata: CommittedMetadata): string {
  const { epoch, transactionalId, partitionTime, watermark, topicId, marks, ended, holdsResults, extra } = metadata;
  const fields = {
    ...extra,
    e: epoch,
    p: partitionTime,
    ...(transactionalId === null ? {} : { t: transactionalId }),
    ...encodedWatermark(watermark),
    ...(topicId ? { i: topicId } : {}),
    ...(marks === undefined ? {} : { u: marks }),
    ...(ended ? { x: ended } : {}),
    ...(holdsResults === true ? { h: 1 } : {}),
  };
  const text = PREFIX + JSON.stringify(fields);
  if (Buffer.byteLength(text) >= MAX_METADATA_BYTES) {
    throw new MillraceError(
      'MILL_INVARIANT',
      `The metadata of a committed offset has ${Buffer.byteLength(text)} bytes; a broker takes ${MAX_METADATA_BYTES}`,
    );
  }
  return text;
}

/** null for a string that Millrace did not write. */
export function decodeCommittedMetadata(text: string | null): CommittedMetadata | null {
  if (text === null || !text.startsWith(PREFIX)) return null;
  const fields = parseFields(text.slice(PREFIX.length));
  if (fields === null) return null;
  const {
    e: epoch,
    p: partitionTime,
    t: transactionalId = null,
    m: watermark,
    i: topicId,
    u: marks,
    x: ended,
    h: holds,
    ...extra
  } = fields;
  if (!Number.isSafeInteger(epoch) || !Number.isSafeInteger(partitionTime)) return null;
  if (transactionalId !== null && typeof transactionalId !== 'string') return null;
  const known = {
    epoch: epoch as number,
    transactionalId,
    partitionTime: partitionTime as number,
    ...decodedWatermark(watermark),
    ...(typeof topicId === 'string' ? { topicId } : {}),
    ...(typeof marks === 'string' ? { marks } : {}),
    ...decodedEnd(ended),
    ...(holds === 1 ? { holdsResults: true } : {}),
  };
  return Object.keys(extra).length === 0 ? known : { ...known, extra };
}

/** The end of a bounded input, Infinity, has no JSON of its own. */
function encodedWatermark(watermark = -Infinity): { m?: number | 'end' } {
  if (watermark === -Infinity) return {};
  return { m: watermark === Infinity ? 'end' : watermark };
}

function decodedWatermark(field: unknown): { watermark?: number } {
  if (field === 'end') return { watermark: Infinity };
  return typeof field === 'number' ? { watermark: field } : {};
}

function decodedEnd(field: unknown): { ended?: InputEnd } {
  return field === 'read' || field === 'final' ? { ended: field } : {};
}

function parseFields(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
