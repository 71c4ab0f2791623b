/** The process that the event-time tests start, kill and close: one instance of the job. */
import { StreamsApp, type StreamsConfig } from 'millrace';
import { eventTopology, type EventTopics } from './event-topology.js';
import { runJob } from '../exactly-once/job-line.js';

export interface EventJobSetup {
  readonly topics: EventTopics;
  readonly idleness?: number;
  readonly config: Pick<StreamsConfig, 'applicationId' | 'bootstrapServers'> & Partial<StreamsConfig>;
}

const setup = JSON.parse(process.env['JOB_SETUP'] ?? '') as EventJobSetup;
runJob(new StreamsApp(eventTopology(setup.topics, setup.idleness), setup.config));
