import type { Randomness } from '../processors/randomness.js';

/** The same numbers and ids for the same seed, in the order in which they are asked for. */
export function seededRandomness(seed: number): Randomness {
  let state = seed | 0;
  // Mulberry32: 32 bits of state, enough for tests.
  const next = (): number => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    number: () => next() / 0x1_0000_0000,
    uuid: () => {
      const hex = Array.from({ length: 4 }, () => next().toString(16).padStart(8, '0')).join('');
      const variant = '89ab'.charAt(parseInt(hex.charAt(16), 16) & 3);
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
  };
}
