/** Releases of one application, as a team would deploy them one after the other. */
import { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import type { Release, ReleaseMode } from '../../../src/rebalance/releases/release.js';
import { releaseOf } from '../../../src/runtime/release-of.js';
import { serdes } from '../../../src/serdes/serdes.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** `orders` is counted by key, `visits` is copied. */
function basics(builder: StreamsBuilder) {
  const orders = builder.stream('orders', text);
  orders
    .groupByKey()
    .count({ materialized: { storeName: 'counts' } })
    .toStream()
    .to('order-counts', { keySerde: serdes.string, valueSerde: serdes.double });
  const visits = builder.stream('visits', text);
  visits.to('visits-copy');
  return { orders, visits };
}

const builds = {
  first: (builder: StreamsBuilder) => {
    basics(builder);
  },
  /** The same to the group. */
  withStatelessSteps: (builder: StreamsBuilder) => {
    const { orders } = basics(builder);
    orders
      .filter(() => true)
      .mapValues((value) => value.trim())
      .to('trimmed');
  },
  withSecondStore: (builder: StreamsBuilder) => {
    const { orders } = basics(builder);
    orders.groupByKey().count({ materialized: { storeName: 'again' } });
  },
  withRepartition: (builder: StreamsBuilder) => {
    const { orders } = basics(builder);
    orders.groupByKey().count({ materialized: { storeName: 'again' } });
    orders.groupBy((value) => value, { name: 'by-value', ...text }).count({ materialized: { storeName: 'by-value' } });
  },
  /** All numbers are one higher. */
  withPartInFront: (builder: StreamsBuilder) => {
    builder
      .stream('returns', text)
      .groupByKey()
      .count({ materialized: { storeName: 'returned' } });
    basics(builder);
  },
  withoutVisits: (builder: StreamsBuilder) => {
    builder
      .stream('orders', text)
      .groupByKey()
      .count({ materialized: { storeName: 'counts' } })
      .toStream()
      .to('order-counts', { keySerde: serdes.string, valueSerde: serdes.double });
  },
  /** One sub-topology reads both topics. */
  merged: (builder: StreamsBuilder) => {
    builder
      .stream('orders', text)
      .merge(builder.stream('visits', text))
      .groupByKey()
      .count({ materialized: { storeName: 'counts' } })
      .toStream()
      .to('order-counts', { keySerde: serdes.string, valueSerde: serdes.double });
  },
};

export type ReleaseName = keyof typeof builds;
export const releaseNames: readonly ReleaseName[] = [
  'first',
  'withStatelessSteps',
  'withSecondStore',
  'withRepartition',
  'withPartInFront',
  'withoutVisits',
  'merged',
];

export function someRelease(name: ReleaseName, mode: ReleaseMode = 'streaming'): Release {
  return builtRelease(builds[name], mode);
}

export function builtRelease(build: (builder: StreamsBuilder) => void, mode: ReleaseMode = 'streaming'): Release {
  const builder = new StreamsBuilder();
  build(builder);
  return releaseOf('app', builder.build({ mode }));
}

export const topicPartitions: Readonly<Record<string, number>> = {
  orders: 4,
  visits: 3,
  returns: 2,
  'app-by-value-repartition': 4,
};
