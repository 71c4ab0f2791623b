/** One instance of the job with several stream threads, and a line to its test. */
import { MillraceError, queries, StreamsApp, type Logger } from 'millrace';
import type { JobMessage } from '../exactly-once/job-messages.js';
import type { Fold } from '../exactly-once/fold.js';
import { asJob, type StoresAnswer } from './job-setup.js';

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
  else if (what === 'read') void readStores().then((answer) => process.send?.({ kind: 'answer', answer }), tellError);
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

/** What queries say of a store whose partitions are spread over the threads. */
async function readStores(): Promise<StoresAnswer> {
  const view = app.store<string, Fold>('updates-store');
  const rows = await view.all().toArray();
  const byKey = await Promise.all(rows.map(async ({ key }) => [key, await view.get(key)] as const));
  const [first] = rows;
  const found = await app.query({ store: 'updates-store', query: queries.key<string, Fold>(first?.key ?? '') });
  const windows = await app.store<string, Fold>('onUpdate-windows-store', { kind: 'window' }).fetchAll({ limit: 7 }).toArray();
  const { active } = app.metadataForKey('updates-store', first?.key ?? '');
  const backwards = app.store<string, Fold>('updates-store').range({ reverse: true, limit: 3 });
  const last = await backwards.toArray();
  return {
    rows: rows.map(({ key, value }) => [key, value]),
    byKey,
    partitions: [...found.partitions].map(([partition, result]) => [partition, result.ok ? result.result !== null : result.reason]),
    windows: windows.map(({ start }) => start),
    isLocal: active?.isLocal ?? false,
    nothing: await view.get('not there'),
    count: await view.approximateCount(),
    last: last.map(({ key }) => key),
    rest: (await view.range({ after: backwards.cursor ?? '', reverse: true }).toArray()).length,
  };
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
