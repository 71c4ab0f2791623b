/** One instance of the job with several stream threads, and a line to its test. */
import { queries, StreamsApp } from 'millrace';
import type { Fold } from '../exactly-once/fold.js';
import { runJob, tellError, toTest } from '../exactly-once/job-line.js';
import { asJob, type StoresAnswer } from './job-setup.js';

const setup = asJob(process.env['JOB_SETUP']);
const app = await StreamsApp.fromModule(new URL('./topology.ts', import.meta.url), { ...setup.config, logger: toTest() });
const orders = new BroadcastChannel('orders');
orders.unref();

const { answer } = setup;
if (answer !== undefined)
  app.setUncaughtErrorHandler(() => {
    if (setup.addsThread === true) void app.addThread().catch(tellError);
    return answer;
  });
runJob(app, {
  bounded: setup.bounded,
  onCommand: (command) => {
    if (command === 'read') void readStores().then((answer) => process.send?.({ kind: 'answer', answer }), tellError);
    else if (command === 'addThread') void app.addThread().catch(tellError);
    else if (command === 'removeThread') void app.removeThread().catch(tellError);
    else orders.postMessage(command);
  },
});

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
