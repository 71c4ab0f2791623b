/** The topology of `app.ts` for its threads. */
import { buildTopology, type TopologyName, type TopologyTopics } from './topologies.js';

const { topology, topics } = JSON.parse(process.env['BENCH_TOPOLOGY'] ?? '') as {
  readonly topology: TopologyName;
  readonly topics: TopologyTopics;
};

export default buildTopology(topology, topics);
