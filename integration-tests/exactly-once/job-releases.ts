/** Releases of the job, as a team would deploy them one after the other: what they write is the same. */
import { StreamsBuilder, tumbling, type Topology } from 'millrace';
import { declareJob, jobTopology, numbers, type JobTopics } from './job-topology.js';

/** `broken` can't share a group with the others. */
export type JobRelease = 'first' | 'added' | 'cut' | 'broken';

/** Releases that may be mixed. */
export const jobReleases = ['first', 'added', 'cut'] as const satisfies readonly JobRelease[];

/** Besides what the job `everything` reads. */
export const moreInputs = ['rows', 'others'] as const satisfies readonly (keyof JobTopics)[];

export function releasedTopology(topics: JobTopics, release: JobRelease): Topology {
  return topologies[release](topics);
}

const topologies: Readonly<Record<JobRelease, (topics: JobTopics) => Topology>> = {
  first: (topics) => jobTopology(topics, 'everything'),

  /** Another part in front, so that all tasks have other ids; a store and a stateless step more in the job. */
  added: (topics) => {
    const builder = new StreamsBuilder();
    builder
      .stream(topics.rows, numbers)
      .groupByKey()
      .count({ materialized: { storeName: 'rows-counted' } });
    const input = builder.stream(topics.input, numbers);
    input
      .filter(() => true)
      .groupByKey()
      .count({ materialized: { storeName: 'counted-again' } });
    declareJob(builder, input, topics, 'everything');
    return builder.build();
  },

  /** The job's part reads another topic besides: it can't run beside the old one. Nothing is in that topic. */
  cut: (topics) => {
    const builder = new StreamsBuilder();
    declareJob(builder, builder.stream(topics.input, numbers).merge(builder.stream(topics.others, numbers)), topics, 'everything');
    return builder.build();
  },

  /** A store keeps windows instead of single rows. */
  broken: (topics) => {
    const builder = new StreamsBuilder();
    builder
      .stream(topics.input, numbers)
      .groupByKey()
      .windowedBy(tumbling({ size: 1000, grace: 0 }))
      .count({ materialized: { storeName: 'updates-store' } });
    return builder.build();
  },
};
