/** The records of the benchmarks: 16-byte keys and 100-byte values of letters, the same bytes in every run. */

export const valueBytes = 100;
const distinctValues = 64;

export function keyOf(index: number): string {
  return `key-${String(index).padStart(12, '0')}`;
}

/** Values of `valueBytes` lower-case letters; record `i` has the value `i % values.length`. */
export function makeValues(): string[] {
  let seed = 42;
  const letter = (): string => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return String.fromCharCode(97 + ((seed >>> 16) % 26));
  };
  return Array.from({ length: distinctValues }, () => Array.from({ length: valueBytes }, letter).join(''));
}

/** Index of the key of record `i` out of `keys` many: every key about equally often, in no order (Knuth's multiplicative hash). */
export function keyIndexOf(i: number, keys: number): number {
  return (Math.imul(i, 2_654_435_761) >>> 0) % keys;
}

/** As {@link keyIndexOf}, but each of the first `keys` records has a key of its own. */
export function distinctKeyIndexOf(i: number, keys: number): number {
  return Number((BigInt(i) * 7_919n) % BigInt(keys));
}
