/** The process that the event-time tests start, kill and close: one instance of the job. */
import { StreamsApp, type StreamsConfig } from 'millrace';
import { eventTopology, type EventTopics } from './event-topology.js';
import { joinsTopology, type JoinTopics } from './joins-topology.js';
import { runJob } from '../exactly-once/job-line.js';

export type JobTopics = EventTopics & JoinTopics;

export interface EventJobSetup {
  readonly topics: JobTopics;
  /** The job of the joins. */
  readonly joins?: boolean;
  readonly idleness?: number;
  readonly config: Pick<StreamsConfig, 'applicationId' | 'bootstrapServers'> & Partial<StreamsConfig>;
}

const setup = JSON.parse(process.env['JOB_SETUP'] ?? '') as EventJobSetup;
const topology = setup.joins === true ? joinsTopology(setup.topics) : eventTopology(setup.topics, setup.idleness);
runJob(new StreamsApp(topology, setup.config));
