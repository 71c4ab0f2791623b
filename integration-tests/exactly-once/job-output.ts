import type { KafkaPort } from '../../src/kafka/port.js';
import { TopicTail } from '../faults/topic-tail.js';
import { exactly, inAnyOrder, someInOrder, type Difference } from './difference.js';
import { foldOf, JobModel } from './job-model.js';
import { inputsOf, rekey, topicsOf, type JobTopics, type JobVariant } from './job-topology.js';
import { JoinModel, taskOrder, type Taken } from './join-model.js';

const isolation = (name: keyof JobTopics): 'read_committed' | 'read_uncommitted' =>
  inputsOf('joins').includes(name) ? 'read_uncommitted' : 'read_committed';

/** The committed output of a job, read along while it runs, and how far it is from the model. */
export class JobOutput {
  private readonly tails: ReadonlyMap<keyof JobTopics, TopicTail>;
  private lastLook = { records: -1, isComplete: false };

  constructor(
    port: KafkaPort,
    topics: JobTopics,
    private readonly variant: JobVariant,
    private readonly bounded = false,
  ) {
    this.tails = new Map(topicsOf(variant).map((name) => [name, new TopicTail(port, topics[name], isolation(name))]));
  }

  get mapped(): TopicTail {
    return this.tail('mapped');
  }

  /** What the job has to have worked on. */
  get input(): TopicTail {
    return this.tail('input');
  }

  tail(name: keyof JobTopics): TopicTail {
    const tail = this.tails.get(name);
    if (tail === undefined) throw new Error(`the variant ${this.variant} has no topic ${name}`);
    return tail;
  }

  /** Reads what is new. True when every output has as much as the input calls for (or more, which is a fault `differences` names). */
  async isComplete(): Promise<boolean> {
    const polled = await Promise.all([...this.tails.values()].map((tail) => tail.poll()));
    const records = polled.reduce((sum, { length }) => sum + length, 0);
    if (records !== this.lastLook.records) this.lastLook = { records, isComplete: this.hasEnough() };
    return this.lastLook.isComplete;
  }

  /** Where each topic stands, for a message. */
  counts(): string {
    return [...this.tails].map(([name, { records }]) => `${name}: ${records.length}`).join(', ');
  }

  model(taken = this.taken()): JobModel {
    const input = taken.filter(({ source }) => source === 0).map(({ record }) => record);
    return new JobModel(input, this.bounded);
  }

  joinModel(): JoinModel {
    return new JoinModel(this.taken());
  }

  /** Every way in which the committed output is not what the model says, in words; empty when all is well. */
  differences(): string[] {
    return this.compare().map(({ text }) => text);
  }

  compare(): Difference[] {
    const taken = this.taken();
    const model = this.model(taken);
    const records = (name: keyof JobTopics) => this.tail(name).records;
    const found = exactly('mapped', records('mapped'), model.values, (value) => value?.readInt32BE(0) ?? null);
    if (this.variant === 'mapOnly') return found;
    const rekeyed = new Map([...model.folds].map(([key, folds]) => [rekey(key), folds]));
    found.push(...exactly('updates', records('updates'), model.folds, foldOf));
    found.push(...exactly('rekeyed', records('rekeyed'), rekeyed, foldOf));
    if (this.variant === 'async') return found;
    found.push(...exactly('windows', records('windows'), model.windows, foldOf));
    found.push(...exactly('finals', records('finals'), model.finals, foldOf));
    found.push(...someInOrder('commits', records('commits'), model.folds, foldOf, ({ n }) => n));
    if (this.variant !== 'joins') return found;
    const joins = new JoinModel(taken);
    found.push(...exactly('enriched', records('enriched'), joins.enriched, String));
    found.push(...inAnyOrder('pairs', records('pairs'), joins.pairs, String));
    return found;
  }

  private hasEnough(): boolean {
    const taken = this.taken();
    const wanted = taken.filter(({ source }) => source === 0).length;
    const atLeast = (count: number, ...names: readonly (keyof JobTopics)[]): boolean =>
      names.every((name) => this.tail(name).records.length >= count);
    if (!atLeast(wanted, 'mapped')) return false;
    if (this.variant === 'mapOnly') return true;
    if (!atLeast(wanted, 'updates', 'rekeyed')) return false;
    if (this.variant === 'async') return true;
    const commits = new Map(this.tail('commits').records.map(({ key, value }) => [key, foldOf(value).n]));
    const committed = [...commits.values()].reduce((sum, n) => sum + n, 0);
    if (committed < wanted || !atLeast(wanted, 'windows')) return false;
    if (!atLeast(this.model(taken).finals.size, 'finals')) return false;
    return this.variant !== 'joins' || (atLeast(wanted, 'enriched') && atLeast(countOf(new JoinModel(taken).pairs), 'pairs'));
  }

  private taken(): readonly Taken[] {
    if (this.variant !== 'joins') return this.input.records.map((record) => ({ source: 0, record }));
    return taskOrder(inputsOf(this.variant).map((name) => this.tail(name).records));
  }
}

function countOf(lists: ReadonlyMap<string, readonly unknown[]>): number {
  return [...lists.values()].reduce((sum, { length }) => sum + length, 0);
}
