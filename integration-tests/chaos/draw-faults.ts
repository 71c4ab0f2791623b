import { epochMoments } from '../faults/epoch-moments.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import type { Fault, PlannedFault } from './fault.js';

export interface ScheduleShape {
  readonly seed: number;
  /** ms */
  readonly duration: number;
  readonly brokers: number;
  readonly instances: number;
  /** Of the job's instances, ms: a process stands still for about as long, now and then. */
  readonly sessionTimeout: number;
}

/** A broker that has just come back catches up first: two of three have to be there. */
const betweenRestarts = 40_000;
const moments = Object.keys(epochMoments) as [string, ...string[]];

type Draw = (random: Random, shape: ScheduleShape) => Fault;

const on = (random: Random, { instances }: ScheduleShape): number => random.int(0, instances - 1);
const broker = (random: Random, { brokers }: ScheduleShape): number => random.int(1, brokers);
const seed = (random: Random): number => random.int(0, 0x7fff_ffff);

/** How often each kind is drawn, and how. Drawn in the order in which the parts are written. */
const kinds: readonly (readonly [weight: number, draw: Draw])[] = [
  [8, (random, shape) => ({ kind: 'kill', instance: on(random, shape), backAfter: random.pick([0, 500, 3000, 9000]) })],
  [6, (random, shape) => ({ kind: 'killAt', instance: on(random, shape), moment: random.pick(moments) })],
  [6, (random, shape) => ({ kind: 'freeze', instance: on(random, shape), duration: pause(random, shape) })],
  [4, (random, shape) => ({ kind: 'stop', instance: on(random, shape), backAfter: random.pick([0, 1000, 8000]) })],
  [1, () => ({ kind: 'rollingRestart' })],
  [
    3,
    (random, shape) => ({
      kind: 'slow',
      instance: on(random, shape),
      broker: broker(random, shape),
      delay: random.pick([5, 50, 300]),
      duration: random.int(1000, 8000),
    }),
  ],
  [
    3,
    (random, shape) => ({
      kind: 'apart',
      instance: on(random, shape),
      broker: broker(random, shape),
      duration: pause(random, shape),
      arrivesLate: random.chance(0.5),
    }),
  ],
  [
    4,
    (random, shape) => ({
      kind: 'loseResponses',
      instance: on(random, shape),
      broker: broker(random, shape),
      share: random.pick([0.01, 0.05, 0.3]),
      duration: random.int(1000, 8000),
      seed: seed(random),
    }),
  ],
  [2, (random, shape) => ({ kind: 'cut', instance: on(random, shape) })],
  [3, (random, shape) => ({ kind: 'corrupt', instance: on(random, shape), seed: seed(random) })],
  [1, (random, shape) => ({ kind: 'newDisk', instance: on(random, shape) })],
  [2, (random, shape) => ({ kind: 'restartBroker', broker: broker(random, shape), signal: random.pick(['SIGKILL', 'SIGTERM']) })],
  [2, (random) => ({ kind: 'moveLeaders', seed: seed(random) })],
];

/**
 * Without another broker there is nobody to move to, and a broker that goes leaves its partitions without a leader, which is when Kafka 4.4.0 loses transaction markers
 * (docs/Guides/operations.md, "A task that does not start").
 */
const needsReplicas: ReadonlySet<Fault['kind']> = new Set(['moveLeaders', 'restartBroker']);

/** The schedule of a seed: the same for the same shape. */
export function drawFaults(shape: ScheduleShape): PlannedFault[] {
  const random = new Random(shape.seed);
  const planned: PlannedFault[] = [];
  let restartedAt = -Infinity;
  for (let at = random.int(500, 3000); at < shape.duration; at += random.pick([100, 1000, 4000]) + random.int(0, 2000)) {
    const fault = drawOne(random, shape);
    if (shape.brokers === 1 && needsReplicas.has(fault.kind)) continue;
    if (fault.kind === 'restartBroker') {
      if (at - restartedAt < betweenRestarts) continue;
      restartedAt = at;
    }
    planned.push({ number: planned.length + 1, at, afterOutput: random.chance(0.7), fault });
  }
  return planned;
}

function drawOne(random: Random, shape: ScheduleShape): Fault {
  let place = random.between([0, kinds.reduce((sum, [weight]) => sum + weight, 0)]);
  for (const [weight, draw] of kinds) {
    place -= weight;
    if (place < 0) return draw(random, shape);
  }
  return { kind: 'rollingRestart' };
}

/** Short, just within the session, just beyond it, or long past it. */
function pause(random: Random, { sessionTimeout }: ScheduleShape): number {
  return random.pick([500, 3000, sessionTimeout - 300, sessionTimeout + 300, 2.5 * sessionTimeout]);
}
