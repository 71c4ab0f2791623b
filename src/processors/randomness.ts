/** Chance as processors get it: a port, so that a test decides what it gives. */
export interface Randomness {
  /** A number in [0, 1). */
  number(): number;
  /** A version 4 UUID. */
  uuid(): string;
}

export const systemRandomness: Randomness = Object.freeze({
  number: () => Math.random(),
  uuid: () => crypto.randomUUID(),
});
