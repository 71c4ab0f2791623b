/**
 * The job of the fault tests: the same input goes through every path on which a record could get lost, doubled or reordered.
 *
 *     input ─┬─ mapValues ───────────────────────────► mapped      no state
 *            ├─ aggregate, emit onUpdate ────────────► updates     a result for each record
 *            ├─ aggregate, emit onCommit ────────────► commits     the last result of each epoch
 *            ├─ windowed aggregate, emit onUpdate ───► windows     window stores
 *            ├─ windowed, emit onWindowClose ────────► finals      each closed window once
 *            ├─ selectKey ─ repartition ─ aggregate ─► rekeyed     through a topic of the app, another task
 *            ├─ leftJoin table of `rows` ────────────► enriched    what the row was at that time
 *            └─ leftJoin stream of `others` ─────────► pairs       join windows, and those without a partner
 *
 * The two joins are in the variant `joins` alone, because a task with several topics goes on only when it has something of each of them (`joinConfig`).
 *
 * Keys are text, values whole numbers; an aggregate is how many values its key had and a checksum over their order.
 */
import { joinWindows, serdes, StreamsBuilder, tumbling, type KStream, type Topology, type Windowed } from 'millrace';
import { after, nothing, type Fold } from './fold.js';

export interface JobTopics {
  readonly input: string;
  readonly mapped: string;
  readonly updates: string;
  readonly commits: string;
  readonly windows: string;
  readonly finals: string;
  readonly rekeyed: string;
  readonly rows: string;
  readonly others: string;
  readonly enriched: string;
  readonly pairs: string;
}

/** Milliseconds; the input comes in the order of its timestamps, so no grace is needed. */
export const windowSize = 2000;

/** `mapOnly` leaves the aggregates away: a job without state. `joins` is everything and two joins. `async` is another job, with asynchronous calls (`async-topology.ts`). */
export type JobVariant = 'everything' | 'mapOnly' | 'joins' | 'async';

/** Stores of everything that hold the rows of keys. */
export const stores = ['updates-store', 'commits-store', 'rekeyed-store'] as const;

/** Of what the job reads. */
export const numbers = { keySerde: serdes.string, valueSerde: serdes.int32 };

/** Milliseconds before and after a record in which it finds partners in the other stream. */
export const joinReach = 500;

/** With it each record is taken in the order of time over all topics of a task, whatever comes late: so one model says what the joins give. */
export const joinConfig = { maxTaskIdleMs: 24 * 3_600_000 } as const;

const outputsOf = {
  mapOnly: ['mapped'],
  async: ['mapped', 'updates', 'rekeyed'],
  everything: ['mapped', 'updates', 'commits', 'rekeyed', 'windows', 'finals'],
  joins: ['mapped', 'updates', 'commits', 'rekeyed', 'windows', 'finals', 'enriched', 'pairs'],
} as const satisfies Record<JobVariant, readonly (keyof JobTopics)[]>;

/** What the variant reads. */
export function inputsOf(variant: JobVariant): readonly (keyof JobTopics)[] {
  return variant === 'joins' ? ['input', 'rows', 'others'] : ['input'];
}

/** What the variant reads and writes. */
export function topicsOf(variant: JobVariant): readonly (keyof JobTopics)[] {
  return [...inputsOf(variant), ...outputsOf[variant]];
}

export function jobTopology(topics: JobTopics, variant: Exclude<JobVariant, 'async'>): Topology {
  const builder = new StreamsBuilder();
  declareJob(builder, builder.stream(topics.input, numbers), topics, variant);
  return builder.build();
}

/** The job in a topology that may have more. */
export function declareJob(
  builder: StreamsBuilder,
  input: KStream<string, number>,
  topics: JobTopics,
  variant: Exclude<JobVariant, 'async'>,
): void {
  input.mapValues((value) => value).to(topics.mapped, { valueSerde: serdes.int32 });
  if (variant === 'mapOnly') return;
  const fold = serdes.json<Fold>();
  input
    .groupByKey()
    .aggregate(nothing, after, { emit: 'onUpdate', materialized: { storeName: 'updates-store', valueSerde: fold } })
    .toStream()
    .to(topics.updates);
  input
    .groupByKey()
    .aggregate(nothing, after, { emit: 'onCommit', materialized: { storeName: 'commits-store', valueSerde: fold } })
    .toStream()
    .to(topics.commits);
  for (const [topic, emit] of [
    [topics.windows, 'onUpdate'],
    [topics.finals, 'onWindowClose'],
  ] as const) {
    input
      .groupByKey()
      .windowedBy(tumbling({ size: windowSize, grace: 0 }))
      .aggregate(nothing, after, { emit, materialized: { storeName: `${emit}-windows-store`, valueSerde: fold } })
      .toStream()
      .selectKey((_, window: Windowed<string>) => windowName(window.key, window.window.start), { keySerde: serdes.string })
      .to(topic, { valueSerde: fold });
  }
  input
    .selectKey((_, key) => rekey(key), { keySerde: serdes.string })
    .groupByKey({ name: 'rekeyed' })
    .aggregate(nothing, after, { emit: 'onUpdate', materialized: { storeName: 'rekeyed-store', valueSerde: fold } })
    .toStream()
    .to(topics.rekeyed);
  if (variant === 'joins') declareJoins(builder, input, topics);
}

function declareJoins(builder: StreamsBuilder, input: KStream<string, number>, topics: JobTopics): void {
  const rows = builder.table(topics.rows, { ...numbers, materialized: { storeName: 'rows-store' } });
  input.leftJoin(rows, joined, { valueSerde: serdes.string }).to(topics.enriched);
  const windows = joinWindows({ before: joinReach, after: joinReach, grace: 0 });
  input
    .leftJoin(builder.stream(topics.others, numbers), joined, { windows, storeName: 'pairs', valueSerde: serdes.string })
    .to(topics.pairs);
}

/** A record and what it found. */
export function joined(value: number, found: number | null): string {
  return `${value} ${found ?? '-'}`;
}

export function windowName(key: string, start: number): string {
  return `${key}@${start}`;
}

export function rekey(key: string): string {
  return `again-${key}`;
}
