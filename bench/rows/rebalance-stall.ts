/**
 * How long partitions go without committed output when a second instance joins, leaves and is killed, under a light load: those that stay where they are,
 * and those that move. The schedule stands in README.md.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { alterGroupSettings } from '../../scripts/stack/group-settings.js';
import { SteadyLoad } from '../clients/steady-load.js';
import { untilCommitted } from '../harness/committed-offsets.js';
import type { Bench, Side } from '../harness/bench.js';
import { partitions } from '../harness/bench.js';
import type { ProgramArguments } from '../harness/arguments.js';
import type { SideProcess } from '../harness/side-process.js';
import type { RowResult } from '../report/summary.js';
import { summarise } from '../report/summary.js';
import type { Row, Sample } from './row.js';
import { inTurn, valuesOf } from './row.js';
import { commitInterval } from './throughput.js';

const all = Array.from({ length: partitions }, (_, partition) => partition);
/** A copy that is behind by less follows its task: there is always an epoch on the way. */
const followsBelow = 1000;
const mostKeys = 200_000;
const steadyMs = 10_000;
/** Between the end of a move and the next event: members that have just moved may hear of the next one sooner. The heartbeats of both sides are met at no moment in particular. */
const rest = (): Promise<void> => delay(13_000 + Math.random() * 5000);
/** Watched after an event, so that what comes late is seen. */
const afterwardsMs = 4000;
const timeoutMs = 240_000;
/** The same for both sides and protocols; the least that Kafka Streams takes. */
const settings = { sessionTimeout: 10_000, probingInterval: 60_000 };

interface Variant {
  readonly name: string;
  readonly protocol: 'classic' | 'streams';
  readonly standbys: 0 | 1;
}

const moments = ['steady', 'join', 'leave', 'crash'] as const;
type Moment = (typeof moments)[number];

/** Longest times without output, ms; of the moment without an event all partitions stay. */
type Stalls = Readonly<Record<Moment, { readonly staying: number; readonly moving: number }>>;

interface StallSample extends Sample {
  readonly stalls: Stalls;
}

export const rebalanceStallRows: readonly Row[] = [
  row({ name: 'rebalance-stall', protocol: 'classic', standbys: 0 }),
  row({ name: 'rebalance-stall-standby', protocol: 'classic', standbys: 1 }),
  row({ name: 'rebalance-stall-streams', protocol: 'streams', standbys: 0 }),
  row({ name: 'rebalance-stall-streams-standby', protocol: 'streams', standbys: 1 }),
];

function row(variant: Variant): Row {
  return { name: variant.name, against: 'Kafka Streams', onlyIfNamed: true, run: (bench) => run(bench, variant) };
}

async function run(bench: Bench, variant: Variant): Promise<RowResult[]> {
  const { name } = variant;
  const samples = await inTurn(bench, name, (side) => measure(bench, side, variant));
  const result = (what: string, moment: Moment, which: 'staying' | 'moving'): RowResult =>
    summarise(
      `${name}-${what}`,
      'ms',
      'lower',
      valuesOf(samples, ({ stalls }) => stalls[moment][which]),
    );
  const events = moments
    .slice(1)
    .flatMap((moment) => [result(`${moment}-staying`, moment, 'staying'), result(`${moment}-moving`, moment, 'moving')]);
  return [result('steady', 'steady', 'staying'), ...events];
}

async function measure(bench: Bench, side: Side, variant: Variant): Promise<StallSample> {
  const { name, standbys } = variant;
  const applicationId = bench.freshName(name);
  const keys = Math.min(mostKeys, Math.ceil(bench.options.records / 10));
  const { topic: input } = await bench.inputs.get({ records: keys, keys, order: 'inTurn', role: applicationId });
  const output = await bench.freshTopic(`${name}-output`);
  const [stateOfA, stateOfB] = [await bench.stateDirectory(`${applicationId}/a`), await bench.stateDirectory(`${applicationId}/b`)];
  const common = await appArguments(bench, variant, applicationId, { input, output });
  const startB = (): SideProcess => bench.startApp(side, { ...common, 'state-dir': stateOfB });
  const a = bench.startApp(side, { ...common, 'state-dir': stateOfA });
  let b: SideProcess | null = null;
  let load: SteadyLoad | null = null;
  try {
    await a.unlessItEnds(untilCommitted(bench.port, applicationId, input), timeoutMs);
    load = await SteadyLoad.start(bench, input, output);
    await a.unlessItEnds(load.untilOutput(), timeoutMs);
    const watch = new Watch(load, a);
    await delay(2000);

    const steady = await watch.during(() => delay(steadyMs), []);
    let moved: readonly number[] = [];
    const join = await watch.during(
      async () => {
        b = startB();
        moved = await untilShared(a, b, standbys);
      },
      () => moved,
    );
    await rest();
    const leave = await watch.during(() => Promise.all([b?.close(), untilAlone(a)]), moved);
    b = startB();
    moved = await untilShared(a, b, standbys);
    await rest();
    const crash = await watch.during(() => Promise.all([b?.kill(), untilAlone(a)]), moved);
    await a.unlessItEnds(load.complete(), timeoutMs);
    const stalls = { steady, join, leave, crash };
    const events = moments.slice(1).map((moment) => `${moment} ${stalls[moment].staying.toFixed()}/${stalls[moment].moving.toFixed()}`);
    const note = `steady ${steady.staying.toFixed()}; staying/moving: ${events.join(', ')} ms`;
    const { peakMemoryBytes: memoryBytes } = a;
    const cpu = a.cpuMsAt(Date.now()) / 1000;
    await a.close();
    return { value: join.moving, cpu, memoryBytes, stalls, note };
  } finally {
    await load?.stop();
    await b?.kill();
    await a.kill();
    await bench.removeApplication(applicationId, [input, output]);
    await Promise.all([stateOfA, stateOfB].map((folder) => rm(folder, { recursive: true, force: true })));
  }
}

/** The broker keeps the settings of a streams group. */
async function appArguments(
  bench: Bench,
  { protocol, standbys }: Variant,
  applicationId: string,
  topics: { readonly input: string; readonly output: string },
): Promise<ProgramArguments> {
  const common = {
    topology: 'count',
    ...topics,
    'application-id': applicationId,
    guarantee: 'exactly_once',
    'commit-interval': commitInterval.exactly_once,
    'group-protocol': protocol,
    'tell-tasks': 'yes',
  };
  const { sessionTimeout, probingInterval } = settings;
  if (protocol === 'classic') return { ...common, standbys, 'session-timeout': sessionTimeout, 'probing-interval': probingInterval };
  await alterGroupSettings(bench.brokers.split(','), applicationId, {
    'streams.session.timeout.ms': String(sessionTimeout),
    'streams.num.standby.replicas': String(standbys),
  });
  return common;
}

/** Both run half of the tasks, with all copies that there should be up to date. Resolves with the partitions that `b` has. */
async function untilShared(a: SideProcess, b: SideProcess, standbys: number): Promise<readonly number[]> {
  const half = partitions / 2;
  const isShared = ({
    active,
    copies,
    lag,
  }: {
    readonly active: readonly number[];
    readonly copies: number;
    readonly lag: number;
  }): boolean => active.length === half && copies === standbys * half && lag < followsBelow;
  const [, { active }] = await Promise.all([a.report('tasks', timeoutMs, isShared), b.report('tasks', timeoutMs, isShared)]);
  return active;
}

function untilAlone(a: SideProcess): Promise<unknown> {
  return a.report('tasks', timeoutMs, ({ active }) => active.length === partitions);
}

class Watch {
  constructor(
    private readonly load: SteadyLoad,
    private readonly a: SideProcess,
  ) {}

  /** What partitions went without from the beginning of `event` on, until all have had output again after it. */
  async during(
    event: () => Promise<unknown>,
    moving: readonly number[] | (() => readonly number[]),
  ): Promise<{ readonly staying: number; readonly moving: number }> {
    const { load } = this;
    const from = load.now();
    await event();
    await this.a.unlessItEnds(load.untilOutput(), timeoutMs);
    await delay(afterwardsMs);
    const moved = typeof moving === 'function' ? moving() : moving;
    const staying = all.filter((partition) => !moved.includes(partition));
    const to = load.now();
    return { staying: load.gaps.longest(staying, from, to), moving: load.gaps.longest(moved, from, to) };
  }
}
