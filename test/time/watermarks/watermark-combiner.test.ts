import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { WatermarkCombiner, type LaggingMembers } from '../../../src/time/watermarks/watermark-combiner.js';

type Event = number | 'idle' | 'active';

/** Runs events of members in the given interleaving; tells what came out. */
function run(
  lagging: LaggingMembers,
  members: number,
  interleaved: readonly (readonly [number, Event])[],
): { emitted: number[]; idle: boolean } {
  const emitted: number[] = [];
  const combiner = new WatermarkCombiner(
    { emit: (watermark) => void emitted.push(watermark), markIdle: () => undefined, markActive: () => undefined },
    lagging,
  );
  for (let id = 0; id < members; id++) combiner.add(id);
  for (const [id, event] of interleaved) {
    if (event === 'idle') combiner.idle(id);
    else if (event === 'active') combiner.active(id);
    else combiner.advance(id, event);
  }
  return { emitted, idle: combiner.isIdle };
}

const sequences = <E extends Event>(event: fc.Arbitrary<E>) => fc.array(fc.array(event, { maxLength: 8 }), { minLength: 1, maxLength: 4 });
const watermark = fc.integer({ min: -50, max: 50 });

/** The sequences merged in an order that `random` chooses, each in its own order. */
function interleave(all: readonly (readonly Event[])[], random: readonly number[]): [number, Event][] {
  const left = all.map((sequence) => sequence.slice());
  const merged: [number, Event][] = [];
  for (let turn = 0; left.some((sequence) => sequence.length > 0); turn++) {
    const waiting = left.flatMap((sequence, id) => (sequence.length > 0 ? [id] : []));
    const id = waiting[(random[turn % random.length] ?? 0) % waiting.length]!;
    merged.push([id, left[id]!.shift()!]);
  }
  return merged;
}

const choices = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 32 });

describe.each(['ignore', 'hold'] as const)('watermarks of several inputs (%s)', (lagging) => {
  it('only rise, whatever the inputs do', () => {
    fc.assert(
      fc.property(sequences(fc.oneof<fc.Arbitrary<Event>[]>(watermark, fc.constantFrom('idle', 'active'))), choices, (all, random) => {
        const { emitted } = run(lagging, all.length, interleave(all, random));
        expect(emitted).toEqual([...new Set(emitted)].toSorted((a, b) => a - b));
      }),
    );
  });

  it('end at the minimum of the maxima, in every interleaving', () => {
    fc.assert(
      fc.property(sequences(watermark), choices, (all, random) => {
        const { emitted } = run(lagging, all.length, interleave(all, random));
        const expected = Math.min(...all.map((sequence) => Math.max(-Infinity, ...sequence)));
        expect(emitted.at(-1) ?? -Infinity).toBe(expected);
      }),
    );
  });

  it('end at the maximum of all when all have gone idle, whichever went last', () => {
    fc.assert(
      fc.property(sequences(watermark), choices, (all, random) => {
        const ending = all.map((sequence) => [...sequence, 'idle' as const]);
        const { emitted, idle } = run(lagging, all.length, interleave(ending, random));
        expect(idle).toBe(true);
        expect(emitted.at(-1) ?? -Infinity).toBe(Math.max(-Infinity, ...all.flat()));
      }),
    );
  });

  it('pass the last watermark of an active input over the idle ones, in every interleaving', () => {
    fc.assert(
      fc.property(sequences(watermark), watermark, choices, (all, high, random) => {
        const last = Math.max(high, ...all.flat()) + 1;
        const ending: Event[][] = all.map((sequence, id) => [...sequence, id === 0 ? last : 'idle']);
        expect(run(lagging, all.length, interleave(ending, random)).emitted.at(-1)).toBe(last);
      }),
    );
  });
});
