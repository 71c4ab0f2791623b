/** The records of the benchmarks: 16-byte keys and 100-byte values, the same bytes in every run. */

export const valueBytes = 100;
const distinctValues = 64;

/** `letters`: lower-case letters only. `json` and `avro`: an {@link Item}, in JSON or in Avro behind its schema's id. */
export type ValueKind = 'letters' | 'json' | 'avro';

/** A text, a number, and letters to fill it up. */
export interface Item {
  readonly item: string;
  readonly amount: number;
  readonly note: string;
}

/** `shuffled`: every key about equally often, in no order. `inTurn`: every key once before any comes again. */
export type KeyOrder = 'shuffled' | 'inTurn';

export function keyOf(index: number): string {
  return `key-${String(index).padStart(12, '0')}`;
}

/** Values of so many bytes; record `i` has the value `i % values.length`. */
export function makeValues(kind: 'letters' | 'json' = 'letters', bytes = valueBytes): string[] {
  const chance = new Chance();
  return Array.from({ length: distinctValues }, () => {
    if (kind === 'letters') return chance.letters(bytes);
    const { item, amount } = drawItem(chance, '');
    const head = `{"item":"${item}","amount":${amount},"note":"`;
    return `${head}${chance.letters(bytes - head.length - 2)}"}`;
  });
}

/** What the Avro values are made of: about `valueBytes` bytes each in Avro. */
export function makeItems(): Item[] {
  const chance = new Chance();
  return Array.from({ length: distinctValues }, () => drawItem(chance, chance.letters(valueBytes - 21)));
}

function drawItem(chance: Chance, note: string): Item {
  return { item: chance.letters(12), amount: 1000 + chance.next(9000), note };
}

class Chance {
  private seed = 42;

  next(below: number): number {
    this.seed = (Math.imul(this.seed, 1_103_515_245) + 12_345) >>> 0;
    return (this.seed >>> 16) % below;
  }

  letters(length: number): string {
    return Array.from({ length }, () => String.fromCharCode(97 + this.next(26))).join('');
  }
}

/** Index of the key of record `i` out of `keys` many. */
export function keyIndexOf(i: number, keys: number, order: KeyOrder = 'shuffled'): number {
  // Knuth's multiplicative hash; a step by a prime that divides no number of keys used here.
  return order === 'shuffled' ? (Math.imul(i, 2_654_435_761) >>> 0) % keys : Number((BigInt(i) * 7_919n) % BigInt(keys));
}
