/** One instance of the job with several stream threads, and a line to its test. */
import { MillraceError, StreamsApp, type Logger } from 'millrace';
import type { JobMessage } from '../exactly-once/job-messages.js';
import { asJob } from './job-setup.js';

const setup = asJob(process.env['JOB_SETUP']);
const app = await StreamsApp.fromModule(new URL('./topology.ts', import.meta.url), { ...setup.config, logger: toTest({}) });
const orders = new BroadcastChannel('orders');
orders.unref();

app.on('state', (state) => tell({ kind: 'state', state }));
app.on('error', tellError);
const { answer } = setup;
if (answer !== undefined) app.setUncaughtErrorHandler(() => answer);
app.setRestoreListener({
  onStart: (progress) => tell({ kind: 'restoring', progress }),
  onEnd: (progress) => tell({ kind: 'restored', progress }),
});

process.on('message', (command: string) => {
  const [what] = command.split(' ');
  if (what === 'metrics') tellMetrics();
  else if (what === 'close') void app.close().catch(tellError).then(tellMetrics).finally(end);
  else if (what === 'closeWithin') void app.close({ timeout: 1000 }).catch(tellError).then(tellMetrics).finally(end);
  else if (what === 'addThread') void app.addThread().catch(tellError);
  else if (what === 'removeThread') void app.removeThread().catch(tellError);
  else orders.postMessage(command);
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
  tell({ kind: 'metrics', metrics: app.metrics(), calls: { records: 0, calledAgain: [] } });
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
