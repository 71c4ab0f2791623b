/** The records of the benchmarks: 16-byte keys and 100-byte values, the same bytes in every run. */

export const valueBytes = 100;
const distinctValues = 64;

/** `letters`: lower-case letters only. `json`: an object with a text, a number, and letters to fill it up. */
export type ValueKind = 'letters' | 'json';

/** `shuffled`: every key about equally often, in no order. `inTurn`: every key once before any comes again. */
export type KeyOrder = 'shuffled' | 'inTurn';

export function keyOf(index: number): string {
  return `key-${String(index).padStart(12, '0')}`;
}

/** Values of `valueBytes` bytes; record `i` has the value `i % values.length`. */
export function makeValues(kind: ValueKind = 'letters'): string[] {
  let seed = 42;
  const next = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 16) % below;
  };
  const letters = (length: number): string => Array.from({ length }, () => String.fromCharCode(97 + next(26))).join('');
  return Array.from({ length: distinctValues }, () => {
    if (kind === 'letters') return letters(valueBytes);
    const head = `{"item":"${letters(12)}","amount":${1000 + next(9000)},"note":"`;
    return `${head}${letters(valueBytes - head.length - 2)}"}`;
  });
}

/** Index of the key of record `i` out of `keys` many. */
export function keyIndexOf(i: number, keys: number, order: KeyOrder = 'shuffled'): number {
  // Knuth's multiplicative hash; a step by a prime that divides no number of keys used here.
  return order === 'shuffled' ? (Math.imul(i, 2_654_435_761) >>> 0) % keys : Number((BigInt(i) * 7_919n) % BigInt(keys));
}
