/**
 * Time from the start of a new process, the old one just killed with -9 under light load, to the first committed output of a record that was
 * written after the kill. Store of a million keys, the same state directory, every timeout at its default.
 */
import { untilEmpty } from '../harness/committed-offsets.js';
import type { Bench, Side } from '../harness/bench.js';
import { preparedStore } from './prepared-stores.js';
import { Probes } from './probes.js';
import type { Sample } from './row.js';
import { durationRow } from './row.js';

const name = 'restart-after-kill';
/** Seen before the kill, so that the app is at its regular work. */
const probesBefore = 200;
const timeoutMs = 300_000;

export const restartAfterKillRow = durationRow(name, measure);

async function measure(bench: Bench, side: Side): Promise<Sample> {
  const { applicationId, input, output, appArguments } = await preparedStore(bench, side);
  const probes = await Probes.start(bench, input, output);
  let app = bench.startApp(side, appArguments);
  try {
    await app.unlessItEnds(probes.latencies(0, probesBefore), timeoutMs);
    await app.kill();
    const seen = probes.firstSeen(probes.next);
    const startedAt = Date.now();
    app = bench.startApp(side, appArguments);
    await app.unlessItEnds(seen, timeoutMs);
    const seenAt = Date.now();
    const memoryBytes = app.peakMemoryBytes;
    await app.progressFrom(seenAt);
    await app.close();
    return { value: (seenAt - startedAt) / 1000, cpu: app.cpuMsAt(seenAt) / 1000, memoryBytes };
  } finally {
    await app.kill();
    await probes.stop();
    await untilEmpty(bench.port, applicationId);
  }
}
