/**
 * One run of the fault lab: a cluster of its own, instances of the job behind proxies, a steady input, and a schedule of faults. At its end the faults stop,
 * everything runs, and output and stores must be exactly what the model says.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startKeeper, type Keeper } from '../../scripts/stack/keeper.js';
import type { BrokerCount } from '../../scripts/stack/settings.js';
import { startStack, type Stack } from '../../scripts/stack/stack.js';
import type { StreamsConfig } from '../../src/index.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import type { Difference } from '../exactly-once/difference.js';
import { stateDifferences } from '../exactly-once/job-state.js';
import { activeTasks } from '../faults/job-process.js';
import { JobRun } from '../faults/job-run.js';
import { describeFault, isOnInstance, type Fault, type PlannedFault } from './fault.js';
import { strikeCluster } from './lab-cluster.js';
import { LabInstance } from './lab-instance.js';
import { StallWatch, type Stall } from './stall-watch.js';

export const instances = 3;
export const sessionTimeout = 6000;
const partitions = 3;
/** Two sub-topologies. */
const tasks = 2 * partitions;
/** How long a fault waits for output. */
const outputMs = 30_000;
/** After the faults: for sessions, transactions and rebalances to time out one after the other, and for what was left undone. */
const settleMs = 180_000;

export interface FaultRunOptions {
  readonly seed: number;
  readonly brokers: BrokerCount;
  /** Of the schedule, ms. */
  readonly duration: number;
  /** Records of the input a second. */
  readonly rate: number;
  /** Ends the run early; it then rejects. */
  readonly signal: AbortSignal;
  /** Told as it happens. */
  readonly onEvent: (text: string) => void;
}

export interface FaultReport {
  readonly faults: number;
  readonly records: number;
  readonly differences: readonly Difference[];
  /** What else should not have happened, in words. */
  readonly problems: readonly string[];
  /** Times an instance ended by itself and was started again. */
  readonly ended: number;
  readonly stalls: readonly Stall[];
  /** What the instances logged. */
  readonly log: readonly string[];
}

export async function runFaults(faults: readonly PlannedFault[], options: FaultRunOptions): Promise<FaultReport> {
  options.signal.throwIfAborted();
  const keeper = startKeeper();
  try {
    const stack = await startStack({ own: true, brokers: options.brokers });
    try {
      const job = await JobRun.create('chaos', {
        brokers: stack.bootstrapServers,
        variant: 'joins',
        partitions,
        config: variety(options.seed),
      });
      keeper.addFolder(job.folder);
      try {
        return await new FaultRun(stack, job, keeper, options).run(faults);
      } finally {
        await job.end();
      }
    } finally {
      await stack.stop();
    }
  } finally {
    await keeper.close();
  }
}

/** How the instances are set up; drawn apart, so that a part of a schedule runs under the same settings. */
function variety(seed: number): Partial<StreamsConfig> {
  const random = new Random(seed ^ 0x5eed);
  return {
    sessionTimeout,
    heartbeatInterval: 1500,
    numStandbyReplicas: random.pick([0, 1]),
    acceptableRecoveryLag: random.pick([0, 10_000]),
    commitInterval: random.pick([30, 100, 100, 500]),
    assignor: random.pick(['sticky', 'sticky', 'range']),
  };
}

class FaultRun {
  private readonly startedAt = performance.now();
  private readonly log: string[] = [];
  private readonly all: LabInstance[] = [];
  /** What goes on at each instance and at the cluster: the next fault there waits for it. */
  private readonly lanes = new Map<string, Promise<void>>();
  private readonly problems: string[] = [];
  private readonly pids = new Map<string, number>();
  private struck = 0;

  constructor(
    private readonly stack: Stack,
    private readonly job: JobRun,
    private readonly keeper: Keeper,
    private readonly options: FaultRunOptions,
  ) {}

  async run(faults: readonly PlannedFault[]): Promise<FaultReport> {
    const { job, options } = this;
    const ending = new AbortController();
    const signal = AbortSignal.any([options.signal, ending.signal]);
    try {
      await this.launch(signal);
      const watch = new StallWatch(job.output.mapped, () => this.now());
      const watching = new AbortController();
      const watched = watch.run(AbortSignal.any([signal, watching.signal]));
      await this.strikeAll(faults, watch, signal);
      watching.abort();
      await watched;
      const differences = await this.settle();
      return {
        faults: this.struck,
        records: job.output.input.records.length,
        differences,
        problems: [...this.problems, ...this.all.flatMap((instance) => instance.faults), ...this.unexpectedErrors()],
        ended: this.all.reduce((sum, { ended }) => sum + ended, 0),
        stalls: watch.longest,
        log: this.log,
      };
    } finally {
      ending.abort();
      await Promise.all(this.all.map((instance) => instance.supervised()));
    }
  }

  private now(): number {
    return performance.now() - this.startedAt;
  }

  private async launch(signal: AbortSignal): Promise<void> {
    const { job, options } = this;
    const isStatic = new Random(options.seed ^ 0x57a7).chance(0.3);
    for (let i = 0; i < instances; i++) {
      const name = `instance ${i}`;
      const stateDir = join(job.folder, name.replace(' ', '-'));
      const config = { stateDir, groupInstanceId: isStatic ? name.replace(' ', '-') : null };
      const { instance: process, proxies } = await job.proxied(name, config);
      process.onMessage = (message) => {
        if (message.kind !== 'metrics') this.log.push(`${this.clock()} ${name} ${JSON.stringify(message)}`);
      };
      const note = (text: string): void => this.note(text);
      this.all.push(new LabInstance({ process, proxies, stateDir, note, signal, onPid: (pid) => this.keep(name, pid) }));
    }
    for (const instance of this.all) instance.start();
    await Promise.all(this.all.map(({ process }) => process.untilState('running', settleMs)));
    job.input.start(options.rate);
  }

  /** Its process does not outlive the lab, not even while it stands still. */
  private keep(name: string, pid: number): void {
    const before = this.pids.get(name);
    if (before !== undefined) this.keeper.forgetProcess(before);
    this.pids.set(name, pid);
    this.keeper.addProcess(pid);
  }

  private async strikeAll(faults: readonly PlannedFault[], watch: StallWatch, signal: AbortSignal): Promise<void> {
    const begin = this.now();
    const until = (at: number): Promise<void> => delay(Math.max(0, begin + at - this.now()), undefined, { signal });
    let last = begin;
    for (const planned of faults) {
      await until(planned.at);
      const latest = this.now() + outputMs;
      while (planned.afterOutput && this.now() < latest && !watch.hasOutputSince(last, partitions)) await delay(100, undefined, { signal });
      // What does not fit in any more is left away.
      if (this.now() - begin > this.options.duration) break;
      last = this.now();
      this.begin(planned, signal);
    }
    await until(this.options.duration);
    await Promise.all(this.lanes.values());
  }

  private begin({ number, fault }: PlannedFault, signal: AbortSignal): void {
    const mine = this.lanesOf(fault);
    const before = Promise.all(mine.map((lane) => this.lanes.get(lane) ?? Promise.resolve()));
    const done = before.then(async () => {
      signal.throwIfAborted();
      this.note(`${number}. ${describeFault(fault)}`);
      this.struck++;
      try {
        await this.strike(fault, signal);
      } catch (error) {
        // An abort ends the run, not the fault alone.
        signal.throwIfAborted();
        this.problems.push(`fault ${number} (${describeFault(fault)}) failed: ${String(error)}`);
      }
    });
    // Whoever waits for the lane hears of it.
    done.catch(() => undefined);
    for (const lane of mine) this.lanes.set(lane, done);
  }

  private lanesOf(fault: Fault): readonly string[] {
    if (fault.kind === 'rollingRestart') return this.all.map((_, index) => String(index));
    return [isOnInstance(fault) ? String(fault.instance) : 'cluster'];
  }

  private async strike(fault: Fault, signal: AbortSignal): Promise<void> {
    if (fault.kind === 'rollingRestart') {
      for (const instance of this.all) {
        await instance.stop();
        instance.start();
      }
    } else if (isOnInstance(fault)) await this.all[fault.instance]?.strike(fault);
    else {
      await strikeCluster(this.stack, fault, this.job.applicationId, signal);
      if (fault.kind === 'restartBroker') this.note(`broker ${fault.broker} is back`);
    }
  }

  /** Faults are over and everything runs: the output has to get complete and right, and so have the stores of whoever has them at the end. */
  private async settle(): Promise<readonly Difference[]> {
    const { job, options } = this;
    this.note('faults are over');
    for (const instance of this.all) instance.heal();
    await job.input.stop();
    const failure = await abortable(job.complete(settleMs), options.signal).catch((error: unknown) => String(error));
    options.signal.throwIfAborted();
    const outputs = job.output.compare();
    if (typeof failure === 'string') return [...outputs, { lost: 1, doubled: 0, different: 0, text: failure.slice(0, 400) }];
    if (outputs.length > 0) return outputs;
    const [last, ...others] = this.all as [LabInstance, ...LabInstance[]];
    for (const instance of others) await instance.stop();
    // It says that it runs also before it hears that the others have gone.
    const hasAll = async (): Promise<boolean> => (await activeTasks(last.process)) === tasks && last.process.state === 'running';
    await abortable(last.process.untilSo('the last instance has every task', hasAll, settleMs), options.signal);
    await last.stop();
    return stateDifferences(job, join(job.folder, 'instance-0', job.applicationId));
  }

  /** A process may end when it finds no broker at its start, and is told so when it is stopped before it has started: all else is unexpected. */
  private unexpectedErrors(): string[] {
    return this.all
      .flatMap(({ process }) => process.errors.map((error) => ({ name: process.name, ...error })))
      .filter(({ code, message }) => code !== 'MILL_BROKER_UNREACHABLE' && !message.includes('the app was closed while it started'))
      .map(({ name, code, message }) => `${name} failed with ${code}: ${message}`);
  }

  private clock(): string {
    return `${(this.now() / 1000).toFixed(1).padStart(6)} s`;
  }

  private note(text: string): void {
    const line = `${this.clock()}  ${text}`;
    this.log.push(line);
    this.options.onEvent(line);
  }
}

/** What is waited for goes on; nobody waits for it any more. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
