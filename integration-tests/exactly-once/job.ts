/** The process that the fault tests start, kill, freeze and stop: one instance of the job, with a line to its test. */
import { StreamsApp } from 'millrace';
import { asyncTopology } from './async-topology.js';
import { runJob, toTest } from './job-line.js';
import type { JobSetup } from './job-messages.js';
import { jobTopology } from './job-topology.js';

const setup = JSON.parse(process.env['JOB_SETUP'] ?? '') as JobSetup;
const { topics, variant } = setup;
/** First attempts of this process, by operator and record. */
const calls = new Map<string, number>();
const topology =
  variant === 'async'
    ? asyncTopology(topics, { shortMs: 20, longMs: 1500 }, (operator, { topic, partition, offset, attempt }) => {
        const id = `${operator} ${topic}-${partition}@${offset}`;
        if (attempt === 1) calls.set(id, (calls.get(id) ?? 0) + 1);
        return () => undefined;
      })
    : jobTopology(topics, variant);
runJob(new StreamsApp(topology, { ...setup.config, logger: toTest() }), {
  bounded: setup.bounded,
  calls: () => ({ records: calls.size, calledAgain: [...calls].filter(([, count]) => count > 1).map(([id]) => id) }),
});
