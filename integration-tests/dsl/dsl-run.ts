import { join } from 'node:path';
import type { Optimization, StreamsApp, StreamsConfig } from '../../src/index.js';
import { until } from '../faults/until.js';
import type { TopicTail } from '../faults/topic-tail.js';
import { Scenario, text } from '../pitfalls/scenario.js';
import { topicName, topologyOf } from './dsl-topology.js';
import { partitions, type Family, type Given } from './family.js';
import { expected, relationOf, type Relation } from './relations.js';

type Relations = Readonly<Record<string, Relation>>;

/** Families in one topology on the broker, with what the test driver says of them. */
export class DslRun {
  /** Members hear soon of a rebalance. */
  readonly quick = { heartbeatInterval: 300 };
  private readonly tails = new Map<string, TopicTail>();
  /** Per family, per phase. */
  private readonly wanted = new Map<Family, Relations[]>();

  private constructor(
    readonly scenario: Scenario,
    readonly families: readonly Family[],
    readonly optimizations: readonly Optimization[],
  ) {}

  static async begin(name: string, families: readonly Family[], optimizations: readonly Optimization[] = []): Promise<DslRun> {
    const run = new DslRun(await Scenario.begin(name), families, optimizations);
    for (const family of families) {
      for (const topic of [...family.inputs, ...Object.keys(family.outputs)])
        await run.scenario.topic(`${family.name}-${topic}`, partitions);
      for (const topic of Object.keys(family.outputs)) {
        const full = run.topicOf(family, topic);
        run.tails.set(full, run.scenario.tail(full));
      }
      run.wanted.set(family, await expected(family));
      await run.writeRecords(family, family.before ?? []);
    }
    return run;
  }

  /** Of the longest family; the others are at their end earlier. */
  get phases(): number {
    return Math.max(...this.families.map(({ phases }) => phases.length));
  }

  /** Starts an instance in the state directory of that name; those of different names run side by side. */
  start(directory: string, config: Partial<StreamsConfig> = {}): Promise<StreamsApp> {
    return this.scenario.running(topologyOf(this.families, this.scenario.id, this.optimizations), {
      ...this.quick,
      stateDir: this.stateDir(directory),
      ...config,
    });
  }

  stateDir(directory: string): string {
    return join(this.scenario.folder, directory);
  }

  async write(phase: number, part: 'all' | 'first half' | 'second half' = 'all'): Promise<void> {
    for (const family of this.families) {
      const given = family.phases[phase] ?? [];
      const middle = given.length >> 1;
      const records = part === 'all' ? given : part === 'first half' ? given.slice(0, middle) : given.slice(middle);
      await this.writeRecords(family, records);
    }
  }

  /** Waits until all input is committed and the committed output is what the test driver gave by the end of the phase. */
  async settled(phase: number, story: () => string = () => this.scenario.story()): Promise<void> {
    let faults: string[] = [];
    await until(
      `phase ${phase} has the results of the test driver`,
      async () => {
        faults = await this.differences(phase);
        return faults.length === 0 && (await this.isInputCommitted());
      },
      40_000,
      () => `${faults.slice(0, 8).join('\n')}\n${story()}`,
    );
  }

  /** Committed output records so far, over all topics. */
  async outputs(): Promise<number> {
    let count = 0;
    for (const tail of this.tails.values()) count += (await tail.poll()).length;
    return count;
  }

  end(): Promise<void> {
    return this.scenario.end();
  }

  private async writeRecords(family: Family, records: readonly Given[]): Promise<void> {
    for (const topic of family.inputs) {
      const its = records.filter((record) => record.topic === topic);
      if (its.length > 0) await this.scenario.write(this.topicOf(family, topic), its);
    }
  }

  private async differences(phase: number): Promise<string[]> {
    const faults: string[] = [];
    for (const family of this.families) {
      const wanted = this.wanted.get(family)?.[Math.min(phase, family.phases.length - 1)] ?? {};
      for (const [name, comparison] of Object.entries(family.outputs)) {
        const records = (await this.tails.get(this.topicOf(family, name))?.poll()) ?? [];
        const got = relationOf(
          records.map(({ key, value, timestamp }) => ({ key, value: text(value), timestamp })),
          comparison,
        );
        faults.push(...unlike(`${family.name} ${name}`, got, wanted[name] ?? {}));
      }
    }
    return faults;
  }

  private async isInputCommitted(): Promise<boolean> {
    const { port, id } = this.scenario;
    const inputs = this.families.flatMap((family) =>
      family.inputs.filter((topic) => !family.global?.includes(topic)).map((topic) => this.topicOf(family, topic)),
    );
    const ends = await port.listOffsets(
      inputs.flatMap((topic) => Array.from({ length: partitions }, (_, partition) => ({ topic, partition, at: 'latest' as const }))),
    );
    const coordinator = await port.findCoordinator('group', id);
    const { offsets } = await port.offsetFetch(coordinator, { groupId: id, partitions: ends, requireStable: true });
    const committed = new Map(offsets.map(({ topic, partition, offset }) => [`${topic}-${partition}`, offset]));
    return ends.every(({ topic, partition, offset }) => Math.max(0, committed.get(`${topic}-${partition}`) ?? -1) >= offset);
  }

  private topicOf(family: Family, topic: string): string {
    return topicName(this.scenario.id, family, topic);
  }
}

function unlike(what: string, got: Relation, wanted: Relation): string[] {
  const faults: string[] = [];
  for (const key of new Set([...Object.keys(got), ...Object.keys(wanted)])) {
    const [have, want] = [got[key] ?? [], wanted[key] ?? []];
    if (JSON.stringify(have) === JSON.stringify(want)) continue;
    const at = want.findIndex((record, i) => record !== have[i]);
    const from = Math.max(0, (at < 0 ? want.length : at) - 1);
    faults.push(
      `${what}, ${key}: from ${from} on ${JSON.stringify(have.slice(from, from + 6))} (of ${have.length}) instead of ${JSON.stringify(want.slice(from, from + 6))} (of ${want.length})`,
    );
  }
  return faults;
}
