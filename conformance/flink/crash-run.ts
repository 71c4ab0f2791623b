/** One app in a virtual world that dies between two epochs: what it has committed, what it has done since, and what it does when it comes back. */
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka, type InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import type { Topology } from '../../src/topology/nodes.js';
import { SimulatedApp } from '../../test/simulation/simulated-app.js';
import { VirtualWorld } from '../../test/simulation/virtual-world.js';

/** Long enough for nothing to be committed by the way between two looks at the app. */
const commitInterval = 5_000;
const patienceMs = 120_000;

export class CrashRun {
  /** Offsets of the input whose records the user's function has seen, in that order, over all lives of the app. */
  readonly seen: number[] = [];
  private readonly world = new VirtualWorld(new Random(1));
  private readonly kafka: InMemoryKafka = inMemoryKafka({
    seed: 1,
    clock: this.world.clockOf(this.world.outside),
    minSessionTimeoutMs: 100,
  });
  private readonly app: SimulatedApp;

  constructor() {
    this.kafka.createTopic('input', 1);
    this.kafka.createTopic('sums', 1);
    const ids = new Random(2);
    this.app = new SimulatedApp('app', {
      world: this.world,
      kafka: this.kafka,
      topology: () => this.topology(),
      config: { applicationId: 'crash', commitInterval, transactionTimeout: 60_000, sessionTimeout: 1_000, heartbeatInterval: 300 },
      faults: () => ({ delayMs: [0.1, 1] }),
      newId: () => ids.uuid(),
      log: () => undefined,
    });
  }

  async within<T>(work: () => Promise<T>): Promise<T> {
    this.world.install();
    try {
      return await work();
    } finally {
      this.app.crash();
      this.world.uninstall();
    }
  }

  start(): void {
    this.app.start();
  }

  /** kill -9. */
  crash(): void {
    this.app.crash();
  }

  feed(values: readonly number[]): void {
    this.kafka.produce(
      'input',
      values.map((value) => ({ key: 'k', value: String(value), timestamp: 1 })),
    );
  }

  /** Runs until the function has seen so many records, and not a moment longer than it takes. */
  async untilSeen(count: number): Promise<void> {
    if (!(await this.world.run(patienceMs, () => this.seen.length >= count)))
      throw new Error(`only ${this.seen.length} of ${count} were seen`);
  }

  /** Runs until that sum of that many values is committed. */
  async untilCommitted(sum: number, count: number): Promise<void> {
    const is = (): boolean => this.committed.at(-1) === `${sum}/${count}`;
    if (!(await this.world.run(patienceMs, is))) throw new Error(`${this.committed.at(-1) ?? 'nothing'} is committed, not ${sum}/${count}`);
  }

  /** `sum/count` after each epoch. */
  get committed(): string[] {
    return this.kafka.records('sums').map(({ value }) => String(value));
  }

  private topology(): Topology {
    const builder = new StreamsBuilder();
    const text = { keySerde: serdes.string, valueSerde: serdes.string };
    builder
      .stream('input', text)
      .peek((_value, _key, { offset }) => void this.seen.push(offset))
      .groupByKey()
      .aggregate(
        () => '0/0',
        (total: string, value) => {
          const [sum, count] = total.split('/').map(Number) as [number, number];
          return `${sum + Number(value)}/${count + 1}`;
        },
        { materialized: { storeName: 'total', ...text } },
      )
      .toStream()
      .to('sums', text);
    return builder.build();
  }
}
