import type { Topology } from '../../src/index.js';
import { avroItems } from '../input/item-schema.js';
import type { Item } from '../input/record-shape.js';
import { joinWindows, serdes, sessions, StreamsBuilder, tumbling } from '../../src/index.js';

export const topologyNames = [
  'map',
  'json-map',
  'count',
  'avro-count',
  'repartition-count',
  'tumbling-count',
  'session-count',
  'stream-table-join',
  'stream-stream-join',
] as const;
export type TopologyName = (typeof topologyNames)[number];

export interface TopologyTopics {
  readonly input: string;
  /** The table or the other stream of a join. */
  readonly other: string;
  readonly output: string;
  /** Of the Avro values' schema; empty where there are none. */
  readonly registryUrl: string;
}

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const minute = 60_000;
const joinedBytes = 50;

/** The topologies of java/…/Topologies.java, operator by operator. Stores are the default: LevelDB. */
export function buildTopology(name: TopologyName, { input, other, output, registryUrl }: TopologyTopics): Topology {
  const builder = new StreamsBuilder();
  switch (name) {
    case 'map':
      builder
        .stream(input, strings)
        .mapValues((value) => value.toUpperCase(), { valueSerde: serdes.string })
        .to(output);
      break;
    case 'json-map':
      builder
        .stream(input, { keySerde: serdes.string, valueSerde: serdes.json<Item>() })
        .mapValues((value) => ({ ...value, amount: value.amount + 1 }), { valueSerde: serdes.json<Item>() })
        .to(output);
      break;
    case 'count':
      builder
        .stream(input, strings)
        .groupByKey()
        .count({ materialized: { storeName: 'counts' } })
        .toStream()
        .to(output);
      break;
    case 'avro-count':
      builder
        .stream(input, { keySerde: serdes.string, valueSerde: avroItems(registryUrl) })
        .filter(({ amount }) => amount > 0)
        .groupByKey()
        .count({ materialized: { storeName: 'counts' } })
        .toStream()
        .to(output);
      break;
    case 'repartition-count':
      builder
        .stream(input, strings)
        .groupBy((_value, key) => key.slice(4), { name: 'by-number', keySerde: serdes.string })
        .count({ materialized: { storeName: 'counts' } })
        .toStream()
        .to(output);
      break;
    case 'tumbling-count':
      builder
        .stream(input, strings)
        .groupByKey()
        .windowedBy(tumbling({ size: minute, grace: 0 }))
        .count({ materialized: { storeName: 'counts' } })
        .toStream()
        .selectKey((_value, { key, window }) => `${key}@${window.start}`, { keySerde: serdes.string })
        .to(output);
      break;
    case 'session-count':
      builder
        .stream(input, strings)
        .groupByKey()
        .windowedBy(sessions({ gap: 10_000, grace: 0 }))
        .count({ materialized: { storeName: 'counts' } })
        .toStream()
        .selectKey((_value, { key, window }) => `${key}@${window.start}-${window.end}`, { keySerde: serdes.string })
        .to(output);
      break;
    case 'stream-table-join':
      builder
        .stream(input, strings)
        .join(builder.table(other, strings), (left, right) => left.slice(joinedBytes) + right.slice(joinedBytes), {
          valueSerde: serdes.string,
        })
        .to(output);
      break;
    case 'stream-stream-join':
      builder
        .stream(input, strings)
        .join(builder.stream(other, strings), (left, right) => left.slice(joinedBytes) + right.slice(joinedBytes), {
          windows: joinWindows({ before: 10_000, after: 10_000 }),
          valueSerde: serdes.string,
        })
        .to(output);
      break;
  }
  return builder.build();
}
