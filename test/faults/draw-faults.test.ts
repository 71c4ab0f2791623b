import { describe, expect, it } from '@jest/globals';
import { drawFaults, type ScheduleShape } from '../../integration-tests/chaos/draw-faults.js';

const shape = (seed: number, brokers: number): ScheduleShape => ({ seed, brokers, duration: 600_000, instances: 3, sessionTimeout: 6000 });
const seeds = Array.from({ length: 20 }, (_, seed) => seed);

describe('the schedule of a seed', () => {
  it('is the same each time', () => {
    expect(drawFaults(shape(5, 3))).toEqual(drawFaults(shape(5, 3)));
    expect(drawFaults(shape(5, 3))).not.toEqual(drawFaults(shape(6, 3)));
  });

  it('is a longer one’s beginning', () => {
    const short = drawFaults({ ...shape(5, 3), duration: 60_000 });
    expect(drawFaults(shape(5, 3)).slice(0, short.length)).toEqual(short);
  });

  it('has every kind of fault, but with one broker none that needs replicas', () => {
    const kinds = (brokers: number) => new Set(seeds.flatMap((seed) => drawFaults(shape(seed, brokers)).map(({ fault }) => fault.kind)));
    expect(kinds(3).size).toBe(13);
    expect([...kinds(3)].filter((kind) => !kinds(1).has(kind)).sort()).toEqual(['moveLeaders', 'restartBroker']);
  });

  it('stops and kills any broker of three, and leaves time between two restarts', () => {
    const signals = new Set<string>();
    for (const seed of seeds) {
      const restarts = drawFaults(shape(seed, 3)).flatMap(({ at, fault }) => (fault.kind === 'restartBroker' ? [{ at, ...fault }] : []));
      for (const [index, { at, broker, signal }] of restarts.entries()) {
        signals.add(`${signal} ${broker}`);
        if (index > 0) expect(at - (restarts[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(40_000);
      }
    }
    expect(signals.size).toBe(6);
  });
});
