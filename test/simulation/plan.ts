/**
 * What a simulated run is made of, all of it drawn from its seed before it begins: so a part of it can be left away, and what is left happens as before.
 *
 * What came later than the first schedules is drawn from numbers apart, so that a seed which found a fault once goes on to mean the same run.
 */
import { joinConfig, type JobVariant } from '../../integration-tests/exactly-once/job-topology.js';
import type { StreamsConfig } from '../../src/app/config.js';
import type { NetworkFaults } from '../../src/testing/in-memory-kafka/client-network.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';

/** What happens to an instance or to the cluster. Times are virtual milliseconds. */
export type Action =
  | { readonly kind: 'crash'; readonly app: number; readonly backAfter: number | null }
  /** Crashed and started at once on another machine. */
  | { readonly kind: 'moved'; readonly app: number }
  | { readonly kind: 'pause'; readonly app: number; readonly ms: number }
  /** All connections break. */
  | { readonly kind: 'cut'; readonly app: number }
  /** No broker can be reached. */
  | { readonly kind: 'away'; readonly app: number; readonly ms: number }
  | { readonly kind: 'close'; readonly app: number }
  | { readonly kind: 'start'; readonly app: number }
  | { readonly kind: 'broker'; readonly broker: number; readonly ms: number }
  | { readonly kind: 'compact' }
  /** The wall clock of an instance is set; its monotonic clock goes on. */
  | { readonly kind: 'clock'; readonly app: number; readonly byMs: number }
  /** Answers take that much longer for a while. */
  | { readonly kind: 'slow'; readonly delayMs: number; readonly ms: number }
  | { readonly kind: 'nothing' };

export interface FedRecord {
  readonly key: string;
  readonly value: number;
  /** With a job that joins: comes right after it with the same key. null deletes a row. */
  readonly row?: number | null;
  readonly other?: number;
}

export interface PlannedStep {
  /** Its place, from 0. */
  readonly number: number;
  readonly feed: readonly FedRecord[];
  /** Before the actions. */
  readonly waitMs: number;
  readonly actions: readonly Action[];
}

export interface SchedulePlan {
  readonly world: Random;
  readonly ids: Random;
  readonly cluster: {
    readonly seed: number;
    readonly brokers: number;
    readonly transactionV2: boolean;
    readonly markerDelayMs: readonly [number, number];
    /** What the coordinator of a streams group lags behind in topics. */
    readonly topicDelayMs?: number;
  };
  readonly network: NetworkFaults;
  readonly partitions: number;
  readonly apps: number;
  readonly isStatic: boolean;
  readonly config: Partial<StreamsConfig>;
  /** Of a streams group, which are the cluster's. */
  readonly groupSettings: Readonly<Record<string, string>>;
  readonly steps: readonly PlannedStep[];
}

export interface PlanOptions {
  readonly job: JobVariant;
  /** Every instance without copies of state and as a dynamic member, and no kinds of faults that came later. */
  readonly plain: boolean;
  /** At least two instances, at least one copy of each task's state. */
  readonly standbys: boolean;
}

export function drawPlan(seed: number, { job, plain, standbys }: PlanOptions): SchedulePlan {
  const random = new Random(seed);
  const world = random.fork();
  const cluster = {
    seed: random.int(0, 0x7fff_ffff),
    brokers: random.pick([1, 1, 3]),
    transactionV2: random.chance(0.5),
    markerDelayMs: random.pick<[number, number]>([
      [0, 1],
      [0, 20],
      [0, 500],
    ]),
  };
  const network = drawNetwork(random);
  const partitions = random.int(1, 3);
  const variety = plain ? plainVariety : drawVariety(new Random(seed ^ 0x5eed), standbys);
  const config = {
    ...variety.config,
    ...(job === 'joins' && joinConfig),
    commitInterval: random.pick([10, 100, 100, 500]),
    sessionTimeout: random.pick([1000, 6000]),
    heartbeatInterval: 300,
    rebalanceTimeout: random.pick([3000, 60_000]),
    transactionTimeout: random.pick([1000, 10_000]),
  };
  const ids = random.fork();
  const apps = Math.max(random.int(1, 3), standbys ? 2 : 1);
  const apart = new Random(seed ^ 0xca1f);
  const steps: PlannedStep[] = [];
  /** When each process is there again, by the schedule alone. */
  const backAt = Array.from({ length: apps }, () => 0);
  let now = 0;
  for (let left = random.int(5, 25); left > 0; left--) {
    const feed = drawFeed(random, random.int(0, 12), job, apart);
    const waitMs = random.pick([5, 50, 300, 1500, 5000]) * random.next();
    now += waitMs;
    const action = drawAction(random, apps, (app) => (backAt[app] ?? 0) <= now);
    if (action.kind === 'crash') backAt[action.app] = action.backAfter === null ? Infinity : now + action.backAfter;
    if (action.kind === 'moved' || action.kind === 'start') backAt[action.app] = now;
    const actions = [action];
    if (!plain && apart.chance(0.15)) actions.push(drawLaterAction(apart, apps));
    steps.push({ number: steps.length, feed, waitMs, actions });
  }
  steps.push({ number: steps.length, feed: drawFeed(random, random.int(1, 20), job, apart), waitMs: 0, actions: [] });
  return { world, ids, cluster, network, partitions, apps, isStatic: variety.isStatic, config, groupSettings: {}, steps };
}

function drawFeed(random: Random, count: number, job: JobVariant, apart: Random): FedRecord[] {
  return Array.from({ length: count }, () => {
    const value = random.int(0, 1000);
    const record = { key: `k${random.int(0, 7)}`, value };
    if (job !== 'joins') return record;
    const row = apart.chance(0.3) ? { row: apart.chance(0.2) ? null : apart.int(0, 1000) } : {};
    const other = apart.chance(0.5) ? { other: apart.int(0, 1000) } : {};
    return { ...record, ...row, ...other };
  });
}

function drawAction(random: Random, apps: number, isThere: (app: number) => boolean): Action {
  const app = random.int(0, apps - 1);
  const kind = random.pick([
    'crash',
    'crash',
    'pause',
    'cut',
    'away',
    'close',
    'start',
    'start',
    'moved',
    'broker',
    'compact',
    'nothing',
  ] as const);
  switch (kind) {
    case 'crash':
      return { kind, app, backAfter: random.chance(0.7) ? random.int(0, 5000) : null };
    case 'pause':
      return { kind, app, ms: random.pick([100, 1500, 8000, 15_000]) };
    case 'away':
      return isThere(app) ? { kind, app, ms: random.pick([200, 3000, 12_000]) } : { kind: 'nothing' };
    case 'broker':
      return { kind, broker: random.int(1, 3), ms: random.pick([10, 1000, 4000]) };
    case 'compact':
    case 'nothing':
      return { kind };
    default:
      return { kind, app };
  }
}

function drawLaterAction(apart: Random, apps: number): Action {
  const isClock = apart.chance(0.5);
  const app = apart.int(0, apps - 1);
  if (isClock) return { kind: 'clock', app, byMs: apart.pick([-86_400_000, -30_000, -700, 700, 30_000, 86_400_000]) };
  return { kind: 'slow', delayMs: apart.pick([100, 900, 4000]), ms: apart.pick([200, 3000]) };
}

function drawNetwork(random: Random): NetworkFaults {
  const rate = random.pick([0, 0.002, 0.01, 0.03]);
  return {
    delayMs: random.pick<readonly [number, number]>([
      [0.1, 1],
      [0.5, 10],
      [1, 80],
    ]),
    loseRequest: rate,
    loseResponse: rate,
    duplicate: random.pick([0, 0, rate]),
    arriveLate: random.pick([0, 0.5]),
    lateMs: [0, random.pick([50, 3000])],
    silenceMs: [0, random.pick([1, 500, 8000])],
  };
}

const plainVariety = { config: {}, isStatic: false };

/** How the instances of a schedule keep copies of state. */
function drawVariety(random: Random, standbys: boolean) {
  const drawn = random.pick([0, 0, 1, 2]);
  const config = {
    numStandbyReplicas: standbys ? Math.max(drawn, 1) : drawn,
    acceptableRecoveryLag: random.pick([0, 5, 10_000]),
    maxWarmupReplicas: random.int(1, 2),
    probingRebalanceInterval: 60_000,
    assignor: random.pick(['sticky', 'sticky', 'range'] as const),
  };
  return { config, isStatic: random.chance(0.3) };
}
