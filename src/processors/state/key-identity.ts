import type { Serde } from '../../serdes/serde.js';

/** What a Map can tell keys apart by: the key itself, or the text of an object's bytes. Two objects are one key when their bytes are equal. */
export function keyIdentity(key: unknown, serde: Serde<unknown> | null = null): unknown {
  if (typeof key !== 'object' || key === null) return key;
  const bytes = serde === null ? Buffer.from(JSON.stringify(key)) : serde.serialize(key);
  return `bytes:${Buffer.from(bytes).toString('latin1')}`;
}
