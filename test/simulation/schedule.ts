/**
 * One simulated run: a cluster, a few app instances and a schedule of faults, all from a seed. At its end the faults stop, everything is started, and the committed
 * output must become exactly what the model says.
 */
import { asyncTopology } from '../../integration-tests/exactly-once/async-topology.js';
import { JobOutput } from '../../integration-tests/exactly-once/job-output.js';
import { jobReleases, moreInputs, releasedTopology } from '../../integration-tests/exactly-once/job-releases.js';
import { jobTopology, numbers, topicsOf, type JobTopics, type JobVariant } from '../../integration-tests/exactly-once/job-topology.js';
import { partitionForKey } from '../../src/bytes/murmur2.js';
import type { NetworkFaults } from '../../src/testing/in-memory-kafka/client-network.js';
import { inMemoryKafka, type InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import type { Topology } from '../../src/topology/nodes.js';
import { CallCounts } from './call-counts.js';
import { drawPlan, type Action, type FedRecord, type SchedulePlan } from './plan.js';
import { withoutParts } from './plan-parts.js';
import { SimulatedApp } from './simulated-app.js';
import { asStreamsGroup } from './streams-plan.js';
import { VirtualWorld } from './virtual-world.js';

export interface ScheduleResult {
  readonly seed: number;
  /** What the output differs in from the model, and what else went wrong; empty when all is well. */
  readonly faults: readonly string[];
  readonly records: number;
  readonly crashes: number;
  readonly actions: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly log: readonly string[];
}

const callTimes = { shortMs: 60, longMs: 8000 };
const applicationId = 'simulated';
const topics: JobTopics = {
  input: 'input',
  mapped: 'mapped',
  updates: 'updates',
  commits: 'commits',
  rekeyed: 'rekeyed',
  windows: 'windows',
  finals: 'finals',
  rows: 'rows',
  others: 'others',
  enriched: 'enriched',
  pairs: 'pairs',
};
/** Long enough for sessions, transactions and rebalances to time out one after the other. */
const patienceMs = 600_000;
/** Event time between the records of a schedule and what follows them at its end: past every window. */
const farMs = 10_000;
/** A merged stream has no serdes of its own. */
const mergedSerdes = { defaultKeySerde: numbers.keySerde, defaultValueSerde: numbers.valueSerde };
/** Connections of an app. */
const purposes = ['main', 'restore', 'standby'] as const;
const startableAgain: ReadonlySet<string> = new Set(['notRunning', 'error']);

export interface ScheduleOptions {
  readonly keepLog?: boolean;
  /** As the first schedules were drawn: see `PlanOptions`. */
  readonly plain?: boolean;
  readonly standbys?: boolean;
  /** Each process that starts has one of several releases of the job's topology. With the job `everything` only. */
  readonly releases?: boolean;
  /** `streams`: the cluster places the tasks. Default: classic. */
  readonly protocol?: 'classic' | 'streams';
  /** `async`: calls that go on beside the tasks. `joins`: everything that waits for nothing, and joins. Default: everything. */
  readonly job?: JobVariant;
  /** Names of parts of the schedule (`partsOf`) that are left away. */
  readonly without?: ReadonlySet<string>;
}

export async function runSchedule(seed: number, options: ScheduleOptions = {}): Promise<ScheduleResult> {
  const { job = 'everything', plain = false, standbys = false, releases = false, keepLog = false, protocol = 'classic', without } = options;
  const drawn = drawPlan(seed, { job, plain, standbys });
  const plan = protocol === 'streams' ? asStreamsGroup(drawn, seed) : drawn;
  return new Schedule(seed, without === undefined ? plan : withoutParts(plan, without), job, keepLog, releases).run();
}

class Schedule {
  private readonly world: VirtualWorld;
  private readonly kafka: InMemoryKafka;
  private readonly apps: SimulatedApp[];
  private readonly calm: NetworkFaults = { delayMs: [0.2, 2] };
  private readonly log: string[] = [];
  private readonly calls = new CallCounts();
  /** null: it counts the calls of a process. */
  private readonly topology: Topology | null;
  private isCalm = false;
  /** Answers come so much later, ms. */
  private slowness = 0;
  private crashes = 0;
  private actions = 0;
  private inputTime = 0;

  constructor(
    private readonly seed: number,
    private readonly plan: SchedulePlan,
    private readonly job: JobVariant,
    private readonly keepLog: boolean,
    releases: boolean,
  ) {
    this.world = new VirtualWorld(plan.world);
    this.kafka = inMemoryKafka({ ...plan.cluster, clock: this.world.clockOf(this.world.outside), minSessionTimeoutMs: 100 });
    this.kafka.alterGroup(applicationId, plan.groupSettings);
    for (const name of topicsOf(job === 'async' ? 'everything' : job)) this.kafka.createTopic(topics[name], plan.partitions);
    if (releases) for (const name of moreInputs) this.kafka.createTopic(topics[name], plan.partitions);
    this.topology = job === 'async' ? null : built(job, () => jobTopology(topics, job));
    const anyRelease = releases ? this.drawnRelease(new Random(seed)) : null;
    this.apps = Array.from(
      { length: plan.apps },
      (_, index) =>
        new SimulatedApp(`app-${index}`, {
          isStatic: plan.isStatic,
          world: this.world,
          kafka: this.kafka,
          topology: (process) => anyRelease?.() ?? this.topology ?? asyncTopology(topics, callTimes, this.calls.of(process)),
          config: { ...plan.config, ...(releases && mergedSerdes), applicationId },
          faults: () => this.network(),
          newId: () => plan.ids.uuid(),
          log: (instance, level, message, fields) => {
            if (level !== 'debug' && level !== 'trace') this.note(`${instance} ${level} ${message}`, fields);
          },
        }),
    );
  }

  /** Runs of a release, as in a deployment, with a stray one now and then. */
  private drawnRelease(random: Random): () => Topology {
    let current = random.pick(jobReleases);
    return () => {
      if (random.chance(0.3)) current = random.pick(jobReleases);
      const release = random.chance(0.2) ? random.pick(jobReleases) : current;
      this.note(`the next process has the release ${release}`);
      return built(`release ${release}`, () => releasedTopology(topics, release));
    };
  }

  async run(): Promise<ScheduleResult> {
    const { world } = this;
    const unhandled: string[] = [];
    const onUnhandled = (error: unknown): void => void unhandled.push(`unhandled: ${error instanceof Error ? error.stack : String(error)}`);
    process.on('unhandledRejection', onUnhandled);
    world.install();
    try {
      for (const app of this.apps) app.start();
      for (const { feed, waitMs, actions } of this.plan.steps) {
        this.feed(feed);
        if (waitMs > 0) await world.run(waitMs);
        for (const action of actions) this.act(action);
      }
      const faults = [...(await this.settle()), ...this.calls.faults(), ...unhandled];
      return {
        seed: this.seed,
        faults,
        records: this.kafka.records(topics.input).length,
        crashes: this.crashes,
        actions: this.actions,
        steps: world.steps,
        virtualMs: world.now,
        log: this.log,
      };
    } finally {
      for (const app of this.apps) app.crash();
      world.uninstall();
      process.off('unhandledRejection', onUnhandled);
    }
  }

  /** Faults end, everything runs: the output has to get complete and right. */
  private async settle(): Promise<string[]> {
    const { world, kafka } = this;
    this.isCalm = true;
    this.note('calm');
    kafka.heal();
    for (let broker = 1; broker <= 3; broker++) kafka.startBroker(broker);
    const output = new JobOutput(kafka.port({ clientId: 'checker' }), topics, this.job);
    const until = world.now + patienceMs;
    if (this.job === 'joins') this.nudge();
    for (let looks = 1; world.now < until; looks++) {
      this.restartStopped();
      await world.run(500);
      if (await output.isComplete()) {
        // What comes too much, comes a little later.
        await world.run(2000);
        await output.isComplete();
        return output.differences();
      }
      if (this.job === 'joins' && looks % 20 === 0) this.nudge();
    }
    await output.isComplete();
    const states = this.apps.map(({ name, app }) => `${name} ${app?.state ?? 'dead'}`).join(', ');
    return [`not complete after ${patienceMs} ms: ${output.counts()} (${states})`, ...output.differences().slice(0, 5)];
  }

  private network(): NetworkFaults {
    const { network } = this.plan;
    if (this.isCalm) return this.calm;
    return this.slowness === 0 ? network : { ...network, delayMs: [0, this.slowness] };
  }

  private restartStopped(): void {
    for (const app of this.apps) {
      if (app.app !== null && !startableAgain.has(app.app.state)) continue;
      app.crash();
      app.start();
    }
  }

  private feed(records: readonly FedRecord[]): void {
    if (this.job !== 'joins') {
      this.kafka.produce(
        topics.input,
        records.map(({ key, value }) => ({ key, value: int32(value) })),
      );
      return;
    }
    for (const { key, value, row, other } of records) {
      this.produce('input', key, value);
      if (row !== undefined) this.produce('rows', key, row);
      if (other !== undefined) this.produce('others', key, other);
    }
  }

  /** One record more in each partition of each topic, so that joins go on to the end of what was fed. */
  private nudge(): void {
    this.inputTime = Math.max(this.inputTime, Math.floor(this.world.wallClock)) + farMs;
    for (let partition = 0; partition < this.plan.partitions; partition++) {
      const key = keyOf(partition, this.plan.partitions);
      for (const name of ['input', 'rows', 'others'] as const) this.produce(name, key, 1001);
    }
  }

  /** In the order of time, no two records at the same: then one model says what joins give. */
  private produce(name: keyof JobTopics, key: string, value: number | null): void {
    this.inputTime = Math.max(this.inputTime + 1, Math.floor(this.world.wallClock));
    this.kafka.produce(topics[name], [{ key, value: value === null ? null : int32(value), timestamp: this.inputTime }]);
  }

  private act(action: Action): void {
    const { kafka } = this;
    this.actions++;
    const app = this.apps['app' in action ? action.app : 0] as SimulatedApp;
    this.note(`${action.kind} ${'app' in action ? app.name : ''}`);
    switch (action.kind) {
      case 'crash': {
        const { backAfter } = action;
        this.crashes++;
        app.crash();
        if (backAfter !== null) this.later(backAfter, () => this.revive(app));
        return;
      }
      case 'moved':
        this.crashes++;
        app.crash();
        app.newDisk();
        app.start();
        return;
      case 'pause':
        app.pauseFor(action.ms);
        return;
      case 'cut':
        for (const client of clientsOf(app)) kafka.cut(client);
        return;
      case 'away': {
        const clients = clientsOf(app);
        for (const client of clients) kafka.cut(client, true);
        this.later(action.ms, () => {
          for (const client of clients) kafka.heal(client);
        });
        return;
      }
      case 'close':
        app.close();
        return;
      case 'start':
        this.revive(app);
        return;
      case 'broker':
        kafka.stopBroker(action.broker);
        this.later(action.ms, () => kafka.startBroker(action.broker));
        return;
      case 'compact':
        for (const topic of kafka.topics) if (topic.endsWith('-changelog')) kafka.compact(topic);
        return;
      case 'clock':
        app.setClock(action.byMs);
        return;
      case 'slow':
        this.slowness = action.delayMs;
        this.later(action.ms, () => {
          this.slowness = 0;
        });
        return;
      case 'nothing':
        return;
    }
  }

  private later(ms: number, run: () => void): void {
    this.world.clockOf(this.world.outside).setTimer(() => {
      if (!this.isCalm) run();
    }, ms);
  }

  private revive(app: SimulatedApp): void {
    if (app.app !== null && !startableAgain.has(app.app.state)) return;
    app.crash();
    app.start();
  }

  private note(message: string, fields: object = {}): void {
    if (!this.keepLog) return;
    const text = JSON.stringify(fields, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value instanceof Error ? value.message : value,
    );
    this.log.push(`${this.world.now.toFixed(2)} ${message} ${text === '{}' ? '' : text}`);
  }
}

/** Topologies say the same in every process and in every schedule. */
function built(name: string, build: () => Topology): Topology {
  let known = topologies.get(name);
  if (known === undefined) topologies.set(name, (known = build()));
  return known;
}

const topologies = new Map<string, Topology>();

function clientsOf({ process }: SimulatedApp): readonly string[] {
  return process === null ? [] : purposes.map((purpose) => `${process.name}-${purpose}`);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function keyOf(partition: number, partitions: number): string {
  for (let number = 0; ; number++) {
    const key = Buffer.from(`k${number}`);
    if (partitionForKey(key, 0, key.length, partitions) === partition) return key.toString();
  }
}
