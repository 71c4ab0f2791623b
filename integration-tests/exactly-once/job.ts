/** The process that the fault tests start, kill, freeze and stop: one instance of the job, with a line to its test. */
import { MillraceError, StreamsApp, type Logger } from 'millrace';
import type { JobCommand, JobMessage, JobSetup } from './job-messages.js';
import { asyncTopology } from './async-topology.js';
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
const app = new StreamsApp(topology, { ...setup.config, logger: toTest({}) });

app.on('state', (state) => tell({ kind: 'state', state }));
app.on('error', tellError);
app.setRestoreListener({
  onStart: (progress) => tell({ kind: 'restoring', progress }),
  onEnd: (progress) => tell({ kind: 'restored', progress }),
});

process.on('message', (command: JobCommand) => {
  if (command === 'metrics') tellMetrics();
  else void app.close().catch(tellError).then(tellMetrics).finally(end);
});
// Without its test the process has no reason to live.
process.on('disconnect', () => process.exit(1));

if (setup.bounded === true) app.runUntilEnd().then(tellMetrics, tellError).finally(end);
else {
  app.start().catch((error: unknown) => {
    tellError(error);
    end();
  });
}

function tell(message: JobMessage): void {
  if (process.connected) process.send?.(message);
}

function tellMetrics(): void {
  const calledAgain = [...calls].filter(([, count]) => count > 1).map(([id]) => id);
  tell({ kind: 'metrics', metrics: app.metrics(), calls: { records: calls.size, calledAgain } });
}

function tellError(error: unknown): void {
  tell({ kind: 'error', code: error instanceof MillraceError ? error.code : '', message: String(error) });
}

/** Ends by itself, so that whatever the library left open keeps the process and shows in the test. */
function end(): void {
  process.removeAllListeners('disconnect');
  process.disconnect();
}

function toTest(bindings: Record<string, unknown>): Logger {
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      tell({
        kind: 'log',
        level,
        message,
        fields: JSON.stringify({ ...bindings, ...fields, err: 'err' in fields ? String(fields.err) : undefined }),
      });
  return {
    debug: () => undefined,
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (more) => toTest({ ...bindings, ...more }),
  };
}
