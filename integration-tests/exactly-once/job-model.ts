import type { KafkaPort } from '../../src/kafka/port.js';
import { TopicTail, type ReadRecord } from '../faults/topic-tail.js';
import { after, nothing, type Fold } from './fold.js';
import { rekey, windowName, windowSize, type JobTopics, type JobVariant } from './job-topology.js';

/**
 * What the job must have written, folded from what its input topic really holds, and how far the committed output is from it.
 */
export class JobModel {
  readonly values = new Map<string, number[]>();
  readonly folds = new Map<string, Fold[]>();
  /** By window name. */
  readonly windows = new Map<string, Fold[]>();
  /** Final folds of windows that stream time has passed, by window name. */
  readonly finals = new Map<string, Fold[]>();

  /** @param bounded whether windows that are still open have been told too */
  constructor(input: readonly ReadRecord[], bounded = false) {
    const places = new Map<string, { readonly partition: number; readonly end: number }>();
    const streamTimes = new Map<number, number>();
    for (const { key, value, timestamp, partition } of input) {
      if (key === null || value === null) throw new Error('the job’s input has neither null keys nor null values');
      const number = value.readInt32BE(0);
      append(this.values, key, number);
      addTo(this.folds, key, number);
      const start = Math.floor(timestamp / windowSize) * windowSize;
      if (timestamp < (streamTimes.get(partition) ?? 0)) throw new Error('the job’s input is in the order of time');
      streamTimes.set(partition, timestamp);
      addTo(this.windows, windowName(key, start), number);
      places.set(windowName(key, start), { partition, end: start + windowSize });
    }
    for (const [name, { partition, end }] of places) {
      const folds = this.windows.get(name) ?? [];
      if (bounded || end <= (streamTimes.get(partition) ?? 0)) this.finals.set(name, folds.slice(-1));
    }
  }

  /** Final folds by key, as stores hold them. */
  get state(): ReadonlyMap<string, Fold> {
    return new Map([...this.folds].map(([key, folds]) => [key, folds[folds.length - 1] as Fold]));
  }

  get rekeyedState(): ReadonlyMap<string, Fold> {
    return new Map([...this.state].map(([key, fold]) => [rekey(key), fold]));
  }
}

/** The committed output of a job, read along while it runs. */
export class JobOutput {
  readonly mapped: TopicTail;
  readonly updates: TopicTail;
  readonly commits: TopicTail;
  readonly windows: TopicTail;
  readonly finals: TopicTail;
  readonly rekeyed: TopicTail;
  private readonly input: TopicTail;

  constructor(
    port: KafkaPort,
    topics: JobTopics,
    private readonly variant: JobVariant,
    private readonly bounded = false,
  ) {
    this.input = new TopicTail(port, topics.input, 'read_uncommitted');
    this.mapped = new TopicTail(port, topics.mapped);
    this.updates = new TopicTail(port, topics.updates);
    this.commits = new TopicTail(port, topics.commits);
    this.windows = new TopicTail(port, topics.windows);
    this.finals = new TopicTail(port, topics.finals);
    this.rekeyed = new TopicTail(port, topics.rekeyed);
  }

  /** Reads what is new. True when every output has as much as the input calls for (or more, which is a fault `differences` names). */
  async isComplete(): Promise<boolean> {
    const wanted = (await this.input.poll()).length;
    const mapped = (await this.mapped.poll()).length >= wanted;
    if (this.variant === 'mapOnly') return mapped;
    if (this.variant === 'async') {
      await Promise.all([this.updates, this.rekeyed].map((tail) => tail.poll()));
      return mapped && this.updates.records.length >= wanted && this.rekeyed.records.length >= wanted;
    }
    await Promise.all([this.updates, this.commits, this.windows, this.finals, this.rekeyed].map((tail) => tail.poll()));
    const commits = new Map(this.commits.records.map(({ key, value }) => [key, foldOf(value).n]));
    const committed = [...commits.values()].reduce((sum, n) => sum + n, 0);
    if (!mapped || committed < wanted) return false;
    if ([this.updates, this.windows, this.rekeyed].some(({ records }) => records.length < wanted)) return false;
    return this.finals.records.length >= this.model().finals.size;
  }

  /** Where each output stands, for a message. */
  counts(): string {
    const { input, mapped, updates, commits, windows, finals, rekeyed } = this;
    return [input, mapped, updates, commits, windows, finals, rekeyed]
      .map(({ topic, records }) => `${topic}: ${records.length}`)
      .join(', ');
  }

  model(): JobModel {
    return new JobModel(this.input.records, this.bounded);
  }

  /** Every way in which the committed output is not what the model says, in words; empty when all is well. */
  differences(): string[] {
    const model = this.model();
    const faults = exactly('mapped', this.mapped.records, new Map(model.values), (value) => value?.readInt32BE(0) ?? null);
    if (this.variant === 'mapOnly') return faults;
    faults.push(...exactly('updates', this.updates.records, model.folds, foldOf));
    if (this.variant === 'async') {
      faults.push(
        ...exactly('rekeyed', this.rekeyed.records, new Map([...model.folds].map(([key, folds]) => [rekey(key), folds])), foldOf),
      );
      return faults;
    }
    faults.push(...exactly('windows', this.windows.records, model.windows, foldOf));
    faults.push(...exactly('finals', this.finals.records, model.finals, foldOf));
    faults.push(...exactly('rekeyed', this.rekeyed.records, new Map([...model.folds].map(([key, folds]) => [rekey(key), folds])), foldOf));
    faults.push(...someInOrder('commits', this.commits.records, model.folds));
    return faults;
  }
}

export function foldOf(value: Buffer | null): Fold {
  return value === null ? nothing() : (JSON.parse(value.toString()) as Fold);
}

/** Each key has exactly the wanted values, once each and in order. */
function exactly<T>(
  name: string,
  records: readonly ReadRecord[],
  wanted: ReadonlyMap<string, readonly T[]>,
  decode: (value: Buffer | null) => T | null,
): string[] {
  const got = new Map<string, (T | null)[]>();
  for (const { key, value } of records) append(got, key ?? '(null)', decode(value));
  const faults: string[] = [];
  for (const key of new Set([...wanted.keys(), ...got.keys()])) {
    const [want, have] = [wanted.get(key) ?? [], got.get(key) ?? []];
    const at = Array.from({ length: Math.max(want.length, have.length) }, (_, i) => i).find((i) => !same(want[i], have[i]));
    if (at !== undefined) {
      const around = (list: readonly unknown[]): string => JSON.stringify(list.slice(Math.max(0, at - 2), at + 3));
      faults.push(
        `${name}: ${key} has ${have.length} values instead of ${want.length}, from place ${at} on ${around(have)} instead of ${around(want)}`,
      );
    }
  }
  return faults;
}

/** Each key has some of the wanted values, each at most once and in order, and the last one. */
function someInOrder(name: string, records: readonly ReadRecord[], wanted: ReadonlyMap<string, readonly Fold[]>): string[] {
  const last = new Map<string, number>();
  const faults: string[] = [];
  for (const { key, value, partition, offset } of records) {
    const fold = foldOf(value);
    const before = last.get(key ?? '') ?? 0;
    const want = wanted.get(key ?? '')?.[fold.n - 1];
    if (fold.n <= before || !same(want, fold)) {
      faults.push(
        `${name}: ${key} has ${JSON.stringify(fold)} after n = ${before} at ${partition}:${offset}, the model says ${JSON.stringify(want)}`,
      );
    }
    last.set(key ?? '', fold.n);
  }
  for (const [key, folds] of wanted)
    if (last.get(key) !== folds.length) faults.push(`${name}: ${key} ends at ${last.get(key)} instead of ${folds.length}`);
  return faults;
}

function addTo(folds: Map<string, Fold[]>, name: string, value: number): void {
  const soFar = folds.get(name) ?? [];
  append(folds, name, after(soFar[soFar.length - 1] ?? nothing(), value));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
