/** Apps that end by themselves, on a broker in memory and in virtual time. Topics `in`, `other`, `out`, `finals` and `counts` have two partitions. */
import { afterEach, beforeEach } from '@jest/globals';
import type { StreamsConfig } from '../../../src/app/config.js';
import type { RunSummary, RunUntilEndOptions } from '../../../src/app/run-until-end.js';
import { StreamsApp } from '../../../src/app/streams-app.js';
import { silentLogger } from '../../../src/observability/logger.js';
import { InMemoryDirectory } from '../../../src/testing/in-memory-kafka/in-memory-directory.js';
import { inMemoryKafka, type InMemoryKafka } from '../../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { Random } from '../../../src/testing/in-memory-kafka/random.js';
import type { Topology } from '../../../src/topology/nodes.js';
import { SimulatedProcess, VirtualWorld } from '../../simulation/virtual-world.js';

export interface Running {
  readonly process: SimulatedProcess;
  readonly app: StreamsApp;
  summary: RunSummary | null;
  error: Error | null;
}

export class BoundedRuns {
  readonly world: VirtualWorld;
  readonly kafka: InMemoryKafka;

  constructor() {
    this.world = new VirtualWorld(new Random(5));
    this.kafka = inMemoryKafka({ seed: 3, clock: this.world.clockOf(this.world.outside), minSessionTimeoutMs: 100 });
    for (const topic of ['in', 'other', 'out', 'finals', 'counts']) this.kafka.createTopic(topic, 2);
  }

  app(
    topology: Topology,
    disk = new InMemoryDirectory('one'),
    config: Partial<StreamsConfig> = {},
  ): { readonly process: SimulatedProcess; readonly app: StreamsApp } {
    const { world, kafka } = this;
    const process = new SimulatedProcess(disk.processId);
    const app = world.as(
      process,
      () =>
        new StreamsApp(
          topology,
          {
            applicationId: 'app',
            bootstrapServers: 'memory:9092',
            storeEngine: 'memory',
            logger: silentLogger,
            sessionTimeout: 1000,
            heartbeatInterval: 300,
            transactionTimeout: 2000,
            ...config,
          },
          {
            openPort: ({ clientId }) => kafka.port({ clientId, clock: world.clockOf(process), faults: { delayMs: [0.2, 2] } }),
            openDirectory: () => Promise.resolve(disk),
          },
        ),
    );
    return { process, app };
  }

  begin(
    topology: Topology,
    options: RunUntilEndOptions = {},
    disk = new InMemoryDirectory('one'),
    config: Partial<StreamsConfig> = {},
  ): Running {
    const { process, app } = this.app(topology, disk, config);
    const running: Running = { process, app, summary: null, error: null };
    this.world.as(process, () => {
      app.runUntilEnd(options).then(
        (summary) => {
          running.summary = summary;
        },
        (error: unknown) => {
          running.error = error as Error;
        },
      );
    });
    return running;
  }

  async finished(...all: Running[]): Promise<void> {
    const done = await this.world.run(300_000, () => all.every(({ summary, error }) => summary !== null || error !== null));
    if (!done) throw new Error(`not at the end: ${all.map(({ app }) => app.state).join(', ')}`);
    for (const { error } of all) if (error !== null) throw error;
  }

  /** What read_committed consumers see, `key=value`. */
  lines(topic: string): string[] {
    return this.kafka.records(topic, 'read_committed').map(({ key, value }) => `${String(key)}=${String(value)}`);
  }

  feed(topic: string, records: readonly (readonly [key: string, value: string | null, timestamp: number])[]): void {
    this.kafka.produce(
      topic,
      records.map(([key, value, timestamp]) => ({ key, value, timestamp })),
    );
  }
}

/** A cluster of its own for each test. */
export function boundedRuns(): { readonly current: BoundedRuns } {
  const holder = { current: new BoundedRuns() };
  beforeEach(() => {
    holder.current = new BoundedRuns();
    holder.current.world.install();
  });
  afterEach(() => {
    holder.current.world.uninstall();
  });
  return holder;
}
