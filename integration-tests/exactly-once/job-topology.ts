/**
 * The job of the fault tests: the same input goes through every path on which a record could get lost, doubled or reordered.
 *
 *     input ─┬─ mapValues ───────────────────────────► mapped      no state
 *            ├─ aggregate, emit onUpdate ────────────► updates     a result for each record
 *            ├─ aggregate, emit onCommit ────────────► commits     the last result of each epoch
 *            ├─ windowed aggregate, emit onUpdate ───► windows     window stores
 *            ├─ windowed, emit onWindowClose ────────► finals      each closed window once
 *            └─ selectKey ─ repartition ─ aggregate ─► rekeyed     through a topic of the app, another task
 *
 * Keys are text, values whole numbers; an aggregate is how many values its key had and a checksum over their order.
 */
import { serdes, StreamsBuilder, tumbling, type Topology, type Windowed } from 'millrace';
import { after, nothing, type Fold } from './fold.js';

export interface JobTopics {
  readonly input: string;
  readonly mapped: string;
  readonly updates: string;
  readonly commits: string;
  readonly windows: string;
  readonly finals: string;
  readonly rekeyed: string;
}

/** Milliseconds; the input comes in the order of its timestamps, so no grace is needed. */
export const windowSize = 2000;

/** `mapOnly` leaves the aggregates away: a job without state. `async` is another job, with asynchronous calls (`async-topology.ts`). */
export type JobVariant = 'everything' | 'mapOnly' | 'async';

/** Those whose rows are compared with the model. */
export const stores = ['updates-store', 'commits-store', 'rekeyed-store'] as const;

export function jobTopology(topics: JobTopics, variant: Exclude<JobVariant, 'async'>): Topology {
  const builder = new StreamsBuilder();
  const input = builder.stream(topics.input, { keySerde: serdes.string, valueSerde: serdes.int32 });
  input.mapValues((value) => value).to(topics.mapped, { valueSerde: serdes.int32 });
  if (variant === 'mapOnly') return builder.build();
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
  return builder.build();
}

export function windowName(key: string, start: number): string {
  return `${key}@${start}`;
}

export function rekey(key: string): string {
  return `again-${key}`;
}
