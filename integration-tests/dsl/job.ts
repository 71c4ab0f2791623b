/** The process that the kill test starts and kills: one instance that runs all families, with all optimisations. Its test hears of states and errors. */
import { StreamsApp, type StreamsConfig, type StreamsState } from 'millrace';
import { families } from './all-families.js';
import { allOptimizations, topologyOf } from './dsl-topology.js';

export type DslJobMessage = { readonly state: StreamsState } | { readonly error: string };

const config = JSON.parse(process.env['JOB_CONFIG'] ?? '') as StreamsConfig;
const app = new StreamsApp(topologyOf(families, config.applicationId, allOptimizations), config);
const tell = (message: DslJobMessage): void => {
  if (process.connected) process.send?.(message);
};

app.on('state', (state) => tell({ state }));
app.on('error', (error) => tell({ error: String(error) }));
process.on('message', () => void app.close().finally(() => process.disconnect()));
// Without its test the process has no reason to live.
process.on('disconnect', () => process.exit());
app.start().catch((error: unknown) => tell({ error: String(error) }));
