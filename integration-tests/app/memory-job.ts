/** The process whose memory is measured: an app that counts per key in LevelDB, with as little memory for data as an app can have. */
import { serdes, StreamsApp, StreamsBuilder, type StreamsConfig } from 'millrace';

export interface MemoryJobSetup {
  readonly input: string;
  readonly output: string;
  readonly config: Pick<StreamsConfig, 'applicationId' | 'bootstrapServers'> & Partial<StreamsConfig>;
}

export interface MemoryAnswer {
  /** Heap and what hangs on it, after a collection, bytes. */
  readonly held: number;
  readonly epochs: number;
  readonly processed: number;
}

const setup = JSON.parse(process.env['JOB_SETUP'] ?? '') as MemoryJobSetup;
const builder = new StreamsBuilder();
builder
  .stream(setup.input, { keySerde: serdes.string, valueSerde: serdes.bytes })
  .groupByKey()
  .count({ name: 'counts' })
  .toStream()
  .to(setup.output, { keySerde: serdes.string });
const app = new StreamsApp(builder.build(), setup.config);

const end = (): void => {
  process.removeAllListeners('disconnect');
  process.disconnect();
};
process.on('disconnect', () => process.exit(1));
process.on('message', (command) => {
  if (command === 'close') void app.close().finally(end);
  else process.send?.(measure());
});
app.start().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});

function measure(): MemoryAnswer {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const { epochs, tasks } = app.metrics();
  const processed = Object.values(tasks).reduce((sum, task) => sum + task.recordsProcessed, 0);
  return { held: heapUsed + external, epochs: epochs?.epochs ?? 0, processed };
}
