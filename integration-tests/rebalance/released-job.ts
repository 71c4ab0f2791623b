/** The process of the upgrade tests: one instance of the job, in one of its releases. */
import { serdes, StreamsApp, StreamsBuilder, tumbling, type Topology } from 'millrace';
import { runJob, toTest } from '../exactly-once/job-line.js';
import type { JobSetup } from '../exactly-once/job-messages.js';
import { declareJob, jobTopology, numbers, type JobTopics } from '../exactly-once/job-topology.js';

export type JobRelease = 'first' | 'added' | 'cut' | 'broken';

const setup = JSON.parse(process.env['JOB_SETUP'] ?? '') as JobSetup & { readonly release: JobRelease };

/** Another part in front, so that all tasks have other ids; a store and a stateless step more in the job. */
function added(topics: JobTopics): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream(topics.rows, numbers)
    .groupByKey()
    .count({ materialized: { storeName: 'rows-counted' } });
  const input = builder.stream(topics.input, numbers);
  const again = input.filter(() => true).groupByKey();
  again.count({ materialized: { storeName: 'counted-again' } });
  declareJob(builder, input, topics, 'everything');
  return builder.build();
}

/** The job's part reads another topic besides: it can't run beside the old one. Nothing is in that topic. */
function cut(topics: JobTopics): Topology {
  const builder = new StreamsBuilder();
  declareJob(builder, builder.stream(topics.input, numbers).merge(builder.stream(topics.others, numbers)), topics, 'everything');
  return builder.build();
}

/** A store keeps windows instead of single rows. */
function broken(topics: JobTopics): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream(topics.input, { ...numbers, valueSerde: serdes.int32 })
    .groupByKey()
    .windowedBy(tumbling({ size: 1000, grace: 0 }))
    .count({ materialized: { storeName: 'updates-store' } });
  return builder.build();
}

/** A merged stream has no serdes of its own. */
const defaults = { defaultKeySerde: serdes.string, defaultValueSerde: serdes.int32 };
const { topics } = setup;
const topology = {
  first: () => jobTopology(topics, 'everything'),
  added: () => added(topics),
  cut: () => cut(topics),
  broken: () => broken(topics),
}[setup.release]();
runJob(new StreamsApp(topology, { ...setup.config, ...defaults, logger: toTest() }));
