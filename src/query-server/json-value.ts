/**
 * Values as JSON, as Protobuf's JSON mapping writes what JSON has no number or text for: bigints as decimal strings, bytes as base64, NaN and infinities as
 * `"NaN"`, `"Infinity"`, `"-Infinity"`. Dates are ISO strings; Maps lists of pairs, Sets lists. `toJSON` methods are heard.
 */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };

export function toJsonValue(value: unknown): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return value.toString();
    case 'object':
      return value === null ? null : objectToJson(value);
    default:
      return null;
  }
}

function objectToJson(value: object): JsonValue {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (Array.isArray(value)) return value.map(toJsonValue);
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)].map(([key, entry]) => [toJsonValue(key), toJsonValue(entry)]);
  if (value instanceof Set) return [...(value as Set<unknown>)].map(toJsonValue);
  if ('toJSON' in value && typeof value.toJSON === 'function') return toJsonValue((value.toJSON as () => unknown)());
  const members = Object.entries(value).filter(([, member]) => member !== undefined && typeof member !== 'function');
  return Object.fromEntries(members.map(([name, member]) => [name, toJsonValue(member)]));
}
