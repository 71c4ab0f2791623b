import { MillraceError } from '../errors.js';

export function isSerde(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { serialize, deserialize } = value as { readonly serialize?: unknown; readonly deserialize?: unknown };
  return typeof serialize === 'function' && typeof deserialize === 'function';
}

/**
 * Says where a serde that is none was given, before a record has to pass it.
 *
 * @param owner what it was given to
 * @throws MILL_TOPOLOGY_INVALID
 */
export function checkSerdes(owner: string, keySerde: unknown, valueSerde: unknown): void {
  for (const [option, serde] of [['keySerde', keySerde] as const, ['valueSerde', valueSerde] as const]) {
    if (serde === null || serde === undefined || isSerde(serde)) continue;
    const cure = typeof serde === 'function' ? `call it (serdes.json() is a serde, serdes.json gives one)` : 'serdes.* has them';
    throw new MillraceError('MILL_TOPOLOGY_INVALID', `${owner}: its ${option} is a ${typeof serde} and no serde: ${cure}.`, {
      details: { owner, option },
    });
  }
}

/**
 * @param what the factory that takes a serde
 * @param of what it is the serde of
 * @throws MILL_TOPOLOGY_INVALID when it was given something else
 */
export function requireSerde(what: string, serde: unknown, of = 'keys'): void {
  if (isSerde(serde)) return;
  if (of === 'keys') checkSerdes(what, serde, null);
  throw new MillraceError('MILL_TOPOLOGY_INVALID', `${what} takes the serde of the ${of}, such as serdes.string.`);
}
