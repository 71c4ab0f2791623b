/** Errors of serdes: what a serde was given is shown, bounded, so that a log line says what was wrong without printing whole payloads. */
import { MillraceError } from '../errors.js';

const maxShownBytes = 24;
const maxShownText = 60;

/** First bytes as hex, with the whole length. */
export function describeBytes(buffer: Uint8Array, start = 0, end = buffer.length): string {
  const shown = Buffer.from(buffer.subarray(start, Math.min(end, start + maxShownBytes))).toString('hex');
  const size = end - start;
  return size > maxShownBytes ? `${size} bytes 0x${shown}…` : `${size} bytes 0x${shown}`;
}

/** Type and beginning of a value. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (value instanceof Uint8Array) return `a byte array of ${describeBytes(value)}`;
  const text = textOf(value);
  const type = typeof value === 'object' ? ((value.constructor as { name?: string } | undefined)?.name ?? 'object') : typeof value;
  return text === null ? `a value of type ${type}` : `${type} ${text.length > maxShownText ? `${text.slice(0, maxShownText)}…` : text}`;
}

/** As it is: nothing comes out for functions and symbols. */
const stringify: (value: unknown) => string | undefined = JSON.stringify;

function textOf(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return value.toString();
    default:
      try {
        return stringify(value) ?? null;
      } catch {
        return null;
      }
  }
}

export function cannotSerialize(serde: string, value: unknown, cause?: unknown): MillraceError {
  if (cause instanceof MillraceError) return cause;
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new MillraceError('MILL_SERDE', `Serde ${serde} cannot serialise ${describeValue(value)}${reason}`, { cause, details: { serde } });
}

export function cannotDeserialize(serde: string, buffer: Uint8Array, start: number, end: number, cause?: unknown): MillraceError {
  if (cause instanceof MillraceError) return cause;
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new MillraceError('MILL_SERDE', `Serde ${serde} cannot deserialise ${describeBytes(buffer, start, end)}${reason}`, {
    cause,
    details: { serde },
  });
}
