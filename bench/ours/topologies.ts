import type { Topology } from '../../src/index.js';
import { serdes, StreamsBuilder } from '../../src/index.js';

export type TopologyName = 'map' | 'count';

/** The topologies of java/…/Topologies.java, operator by operator. Stores are the default: LevelDB. */
export function buildTopology(name: TopologyName, input: string, output: string): Topology {
  const builder = new StreamsBuilder();
  const records = builder.stream(input, { keySerde: serdes.string, valueSerde: serdes.string });
  switch (name) {
    case 'map':
      records.mapValues((value) => value.toUpperCase(), { valueSerde: serdes.string }).to(output);
      break;
    case 'count':
      records
        .groupByKey()
        .count({ materialized: { storeName: 'counts' } })
        .toStream()
        .to(output);
      break;
  }
  return builder.build();
}
