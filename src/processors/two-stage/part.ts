/**
 * What the first stage of a windowed aggregation sends: the accumulator of the records of one key and slice, and how many they are, so that what the second stage drops is counted
 * by records.
 *
 * Its bytes: the number of records, 4 bytes big-endian, then the accumulator.
 */
import { compileSerde } from '../../serdes/compile-serde.js';
import { serdeOver } from '../../serdes/late-serde.js';
import type { Serde, SerdeUse } from '../../serdes/serde.js';
import { inPlaceSerde } from '../../serdes/in-place-serde.js';
import { copiedValue } from '../state/copied-value.js';
import { requireCarried } from './carried-accumulator.js';

export class Part<A> {
  constructor(
    readonly accumulator: A,
    readonly records: number,
  ) {}
}

/** How many of the app's input records a value stands for. */
export function recordsIn(value: unknown): number {
  return value instanceof Part ? value.records : 1;
}

/** The accumulator of a part, for one of its windows. A merge may change what it is given, so where windows overlap each gets a copy. */
export function accumulatorOf<A>({ accumulator }: Part<A>, overlap: boolean, serde: Serde<A>): A {
  return overlap ? copiedValue(accumulator, serde) : accumulator;
}

/** @param serde of the accumulators; null: the app's default for values */
export function partSerde<A>(serde: Serde<A> | null): Serde<Part<A>> {
  return serdeOver(serde, partSerdeOver, 'value', 'part');
}

function partSerdeOver<A>(accumulatorSerde: Serde<A>): Serde<Part<A>> {
  const accumulator = compileSerde(accumulatorSerde);
  const serde = inPlaceSerde<Part<A>>({
    name: `part(${accumulator.name})`,
    encode: (part, out) => {
      out.writeInt32(part.records);
      accumulator.encode(part.accumulator, out);
    },
    decode: (buffer, start, end) => {
      if (end - start < 4) throw new Error('a part begins with the number of its records, 4 bytes');
      return new Part(requireCarried(accumulator.decodeSync(buffer, start + 4, end), accumulator.name), buffer.readInt32BE(start));
    },
  });
  return Object.freeze({
    ...serde,
    prepare: async (use: SerdeUse) => {
      await accumulatorSerde.prepare?.(use);
    },
  });
}
