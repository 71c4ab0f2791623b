/** Time from an app's start, its state directory gone, until every store is restored from the changelog and the app runs. */
import { rm } from 'node:fs/promises';
import { untilEmpty } from '../harness/committed-offsets.js';
import type { Bench, Side } from '../harness/bench.js';
import { preparedStore } from './prepared-stores.js';
import type { Sample } from './row.js';
import { durationRow } from './row.js';

const name = 'restore';
const timeoutMs = 300_000;

export const restoreRow = durationRow(name, measure);

async function measure(bench: Bench, side: Side): Promise<Sample> {
  const { applicationId, stateDir, keys, appArguments } = await preparedStore(bench, side);
  await rm(stateDir, { recursive: true, force: true });
  const app = bench.startApp(side, appArguments);
  try {
    const restored = app.report('restored', timeoutMs, ({ records }) => records >= keys);
    const starting = await app.report('starting', timeoutMs);
    const { at: restoredAt } = await restored;
    const readyAt =
      app.state?.state === 'running' ? restoredAt : (await app.report('state', timeoutMs, ({ state }) => state === 'running')).at;
    const memoryBytes = app.peakMemoryBytes;
    await app.progressFrom(readyAt);
    await app.close();
    return { value: (readyAt - starting.at) / 1000, cpu: app.cpuMsAt(readyAt) / 1000, memoryBytes };
  } finally {
    await app.kill();
    await untilEmpty(bench.port, applicationId);
  }
}
