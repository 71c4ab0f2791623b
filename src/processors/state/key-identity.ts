import { types } from 'node:util';
import type { Serde } from '../../serdes/serde.js';
import { serialized } from '../../serdes/serialized.js';

/** What a Map can tell keys apart by: the key itself, or the text of an object's bytes. Two objects are one key when their bytes are equal. */
export function keyIdentity(key: unknown, serde: Serde<unknown> | null = null): unknown {
  if (typeof key !== 'object' || key === null) return key;
  const bytes = serde === null ? Buffer.from(JSON.stringify(key, told)) : serialized(serde, key);
  return `bytes:${Buffer.from(bytes).toString('latin1')}`;
}

/** What JSON has no words for, or one word for several, told apart all the same. */
function told(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  // Not `instanceof`: a key may come from another realm.
  return types.isMap(value) || types.isSet(value) ? [...(value as Iterable<unknown>)] : value;
}
