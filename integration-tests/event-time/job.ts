/** The process that the event-time tests start, kill and close: one instance of the job. */
import { StreamsApp, type StreamsConfig } from 'millrace';
import type { JobMessage } from '../exactly-once/job-messages.js';
import { eventTopology, type EventTopics } from './event-topology.js';

export interface EventJobSetup {
  readonly topics: EventTopics;
  readonly idleness?: number;
  readonly config: Pick<StreamsConfig, 'applicationId' | 'bootstrapServers'> & Partial<StreamsConfig>;
}

const setup = JSON.parse(process.env['JOB_SETUP'] ?? '') as EventJobSetup;
const app = new StreamsApp(eventTopology(setup.topics, setup.idleness), setup.config);
const tell = (message: JobMessage): void => {
  if (process.connected) process.send?.(message);
};
const tellError = (error: unknown): void => tell({ kind: 'error', code: '', message: String(error) });

app.on('state', (state) => tell({ kind: 'state', state }));
app.on('error', tellError);
process.on('message', () => void app.close().catch(tellError).finally(end));
// Without its test the process has no reason to live.
process.on('disconnect', () => process.exit(1));
app.start().catch((error: unknown) => {
  tellError(error);
  end();
});

function end(): void {
  process.removeAllListeners('disconnect');
  process.disconnect();
}
