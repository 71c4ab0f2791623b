/**
 * One simulated run: a cluster, a few app instances and a schedule of faults, all from a seed. At its end the faults stop, everything is started, and the committed
 * output must become exactly what the model says.
 */
import { jobTopology, type JobTopics } from '../../integration-tests/exactly-once/job-topology.js';
import { asyncTopology } from '../../integration-tests/exactly-once/async-topology.js';
import { JobOutput } from '../../integration-tests/exactly-once/job-model.js';
import type { NetworkFaults } from '../../src/testing/in-memory-kafka/client-network.js';
import { inMemoryKafka, type InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import { CallCounts } from './call-counts.js';
import { SimulatedApp } from './simulated-app.js';
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
};
/** Long enough for sessions, transactions and rebalances to time out one after the other. */
const patienceMs = 600_000;
/** Connections of an app. */
const purposes = ['main', 'restore', 'standby'] as const;
const startableAgain: ReadonlySet<string> = new Set(['notRunning', 'error']);

/** `async`: calls that go on beside the tasks; else everything that waits for nothing. */
export type ScheduleJob = 'everything' | 'async';

/** `plain`: every instance without copies of state and as a dynamic member, as in the schedules that were drawn before there were others. */
export async function runSchedule(
  seed: number,
  options: { readonly keepLog?: boolean; readonly plain?: boolean; readonly job?: ScheduleJob } = {},
): Promise<ScheduleResult> {
  const run = new Schedule(seed, options.keepLog ?? false, options.plain ?? false, options.job ?? 'everything');
  return run.run();
}

class Schedule {
  private readonly random: Random;
  private readonly world: VirtualWorld;
  private readonly kafka: InMemoryKafka;
  private readonly apps: SimulatedApp[];
  private readonly faults: NetworkFaults;
  private readonly calm: NetworkFaults = { delayMs: [0.2, 2] };
  private readonly log: string[] = [];
  private readonly calls = new CallCounts();
  private isCalm = false;
  private crashes = 0;
  private actions = 0;

  constructor(
    private readonly seed: number,
    private readonly keepLog: boolean,
    plain: boolean,
    private readonly job: ScheduleJob,
  ) {
    const random = (this.random = new Random(seed));
    this.world = new VirtualWorld(random.fork());
    this.kafka = inMemoryKafka({
      seed: random.int(0, 0x7fff_ffff),
      clock: this.world.clockOf(this.world.outside),
      brokers: random.pick([1, 1, 3]),
      transactionV2: random.chance(0.5),
      minSessionTimeoutMs: 100,
      markerDelayMs: random.pick<[number, number]>([
        [0, 1],
        [0, 20],
        [0, 500],
      ]),
    });
    this.faults = this.drawFaults();
    const partitions = random.int(1, 3);
    for (const topic of Object.values(topics) as string[]) this.kafka.createTopic(topic, partitions);
    const variety = plain ? plainVariety : drawVariety(new Random(seed ^ 0x5eed));
    const config = {
      ...variety.config,
      applicationId,
      commitInterval: random.pick([10, 100, 100, 500]),
      sessionTimeout: random.pick([1000, 6000]),
      heartbeatInterval: 300,
      rebalanceTimeout: random.pick([3000, 60_000]),
      transactionTimeout: random.pick([1000, 10_000]),
    };
    const ids = random.fork();
    this.apps = Array.from(
      { length: random.int(1, 3) },
      (_, index) =>
        new SimulatedApp(`app-${index}`, {
          isStatic: variety.isStatic,
          world: this.world,
          kafka: this.kafka,
          topology: (process) => (job === 'async' ? asyncTopology(topics, callTimes, this.calls.of(process)) : jobTopology(topics, job)),
          config,
          faults: () => (this.isCalm ? this.calm : this.faults),
          newId: () => ids.uuid(),
          log: (instance, level, message, fields) => {
            if (level !== 'debug' && level !== 'trace') this.note(`${instance} ${level} ${message}`, fields);
          },
        }),
    );
  }

  async run(): Promise<ScheduleResult> {
    const { world, random } = this;
    const unhandled: string[] = [];
    const onUnhandled = (error: unknown): void => void unhandled.push(`unhandled: ${error instanceof Error ? error.stack : String(error)}`);
    process.on('unhandledRejection', onUnhandled);
    world.install();
    try {
      for (const app of this.apps) app.start();
      const actions = random.int(5, 25);
      for (let i = 0; i < actions; i++) {
        this.feed(random.int(0, 12));
        await world.run(random.pick([5, 50, 300, 1500, 5000]) * random.next());
        this.act();
      }
      this.feed(random.int(1, 20));
      const output = await this.settle();
      const faults = [...(output === null ? [] : output), ...this.calls.faults(), ...unhandled];
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
  private async settle(): Promise<string[] | null> {
    const { world, kafka } = this;
    this.isCalm = true;
    this.note('calm');
    kafka.heal();
    for (let broker = 1; broker <= 3; broker++) kafka.startBroker(broker);
    const output = new JobOutput(kafka.port({ clientId: 'checker' }), topics, this.job);
    const until = world.now + patienceMs;
    while (world.now < until) {
      this.restartStopped();
      await world.run(500);
      if (await output.isComplete()) {
        // What comes too much, comes a little later.
        await world.run(2000);
        await output.isComplete();
        return output.differences();
      }
    }
    await output.isComplete();
    const states = this.apps.map(({ name, app }) => `${name} ${app?.state ?? 'dead'}`).join(', ');
    return [`not complete after ${patienceMs} ms: ${output.counts()} (${states})`, ...output.differences().slice(0, 5)];
  }

  private restartStopped(): void {
    for (const app of this.apps) {
      if (app.app !== null && !startableAgain.has(app.app.state)) continue;
      app.crash();
      app.start();
    }
  }

  private feed(count: number): void {
    const { random } = this;
    const records = Array.from({ length: count }, () => {
      const value = Buffer.alloc(4);
      value.writeInt32BE(random.int(0, 1000));
      return { key: `k${random.int(0, 7)}`, value };
    });
    this.kafka.produce(topics.input, records);
  }

  private act(): void {
    const { random, kafka } = this;
    this.actions++;
    const app = random.pick(this.apps as [SimulatedApp, ...SimulatedApp[]]);
    const action = random.pick([
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
    ]);
    this.note(`${action} ${app.name}`);
    const later = (ms: number, run: () => void): void =>
      void this.world.clockOf(this.world.outside).setTimer(() => {
        if (!this.isCalm) run();
      }, ms);
    switch (action) {
      case 'crash':
        this.crashes++;
        app.crash();
        if (random.chance(0.7)) later(random.int(0, 5000), () => this.revive(app));
        return;
      case 'moved':
        this.crashes++;
        app.crash();
        app.newDisk();
        app.start();
        return;
      case 'pause':
        app.pauseFor(random.pick([100, 1500, 8000, 15_000]));
        return;
      case 'cut':
        for (const purpose of purposes) if (app.process !== null) kafka.cut(`${app.process.name}-${purpose}`);
        return;
      case 'away': {
        const { process } = app;
        if (process === null) return;
        const clients = purposes.map((purpose) => `${process.name}-${purpose}`);
        for (const client of clients) kafka.cut(client, true);
        later(random.pick([200, 3000, 12_000]), () => {
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
      case 'broker': {
        const broker = random.int(1, 3);
        kafka.stopBroker(broker);
        later(random.pick([10, 1000, 4000]), () => kafka.startBroker(broker));
        return;
      }
      case 'compact':
        for (const topic of kafka.topics) if (topic.endsWith('-changelog')) kafka.compact(topic);
        return;
    }
  }

  private revive(app: SimulatedApp): void {
    if (app.app !== null && !startableAgain.has(app.app.state)) return;
    app.crash();
    app.start();
  }

  private drawFaults(): NetworkFaults {
    const { random } = this;
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

  private note(message: string, fields: object = {}): void {
    if (!this.keepLog) return;
    const text = JSON.stringify(fields, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value instanceof Error ? value.message : value,
    );
    this.log.push(`${this.world.now.toFixed(2)} ${message} ${text === '{}' ? '' : text}`);
  }
}

const plainVariety = { config: {}, isStatic: false };

/** How the instances of a schedule keep copies of state; drawn apart, so that the rest of a schedule is the same with and without. */
function drawVariety(random: Random) {
  const config = {
    numStandbyReplicas: random.pick([0, 0, 1, 2]),
    acceptableRecoveryLag: random.pick([0, 5, 10_000]),
    maxWarmupReplicas: random.int(1, 2),
    probingRebalanceInterval: 60_000,
    assignor: random.pick(['sticky', 'sticky', 'range'] as const),
  };
  return { config, isStatic: random.chance(0.3) };
}
