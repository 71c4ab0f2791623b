/** The process that the broadcast test starts, kills and closes. */
import { StreamsApp, type StreamsConfig } from 'millrace';
import { runJob } from '../exactly-once/job-line.js';
import { broadcastTopology, type BroadcastTopics } from './broadcast-topology.js';

export interface BroadcastJobSetup {
  readonly topics: BroadcastTopics;
  readonly config: Pick<StreamsConfig, 'applicationId' | 'bootstrapServers'> & Partial<StreamsConfig>;
}

const setup = JSON.parse(process.env['JOB_SETUP'] ?? '') as BroadcastJobSetup;
runJob(new StreamsApp(broadcastTopology(setup.topics), setup.config));
