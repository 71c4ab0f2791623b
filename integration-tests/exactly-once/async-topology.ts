/**
 * The job of the fault tests with calls that go on beside its tasks: they take their time, end in any order, and fail now and then.
 *
 *     input ─┬─ mapValuesAsync, arrival ──────────────► mapped
 *            ├─ mapValuesAsync, per key ─ aggregate ──► updates
 *            └─ mapAsync, arrival ─ repartition ─ aggregate ─► rekeyed
 *
 * Each attempt is told to `onCall`, so that a test can count how often a record was called for.
 */
import { serdes, StreamsBuilder, type AsyncCall, type Topology } from 'millrace';
import { after, nothing, type Fold } from './fold.js';
import { rekey, type JobTopics } from './job-topology.js';

export interface CallTimes {
  /** ms of an ordinary call, at most. */
  readonly shortMs: number;
  /** One call in a hundred takes up to this, ms. */
  readonly longMs: number;
}

/** Told of each attempt; what it gives is called when the attempt has ended. */
export type OnCall = (operator: string, call: AsyncCall) => () => void;

export function asyncTopology(topics: JobTopics, times: CallTimes, onCall: OnCall = () => () => undefined): Topology {
  const outside = async (operator: string, call: AsyncCall): Promise<void> => {
    const ended = onCall(operator, call);
    const ms = Math.random() * (Math.random() < 0.01 ? times.longMs : times.shortMs);
    await new Promise((resolve) => setTimeout(resolve, ms));
    ended();
    if (Math.random() < 0.05) throw new Error('the service is busy');
  };
  const retry = { attempts: 1000, backoff: 5, maxBackoff: 50 };
  const fold = serdes.json<Fold>();
  const builder = new StreamsBuilder();
  const input = builder.stream(topics.input, { keySerde: serdes.string, valueSerde: serdes.int32 });
  input
    .mapValuesAsync(
      async (value, _key, call) => {
        await outside('arrival', call);
        return value;
      },
      { name: 'arrival', concurrency: 8, retry },
    )
    .to(topics.mapped, { valueSerde: serdes.int32 });
  input
    .mapValuesAsync(
      async (value, _key, call) => {
        await outside('per-key', call);
        return value;
      },
      { name: 'per-key', order: 'perKey', valueSerde: serdes.int32, retry },
    )
    .groupByKey()
    .aggregate(nothing, after, { emit: 'onUpdate', materialized: { storeName: 'updates-store', valueSerde: fold } })
    .toStream()
    .to(topics.updates);
  input
    .mapAsync(
      async (value, key, call) => {
        await outside('rekey', call);
        return [rekey(key), value] as const;
      },
      { name: 'rekey', keySerde: serdes.string, valueSerde: serdes.int32, retry },
    )
    .groupByKey({ name: 'rekeyed' })
    .aggregate(nothing, after, { emit: 'onUpdate', materialized: { storeName: 'rekeyed-store', valueSerde: fold } })
    .toStream()
    .to(topics.rekeyed);
  return builder.build();
}
