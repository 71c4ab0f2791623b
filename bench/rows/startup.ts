/** Time from the start of a process to its first committed output: a new app, nothing of it on the broker yet, one record waiting for it. */
import { rm } from 'node:fs/promises';
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { Bench, Side } from '../harness/bench.js';
import { partitions } from '../harness/bench.js';
import type { Sample } from './row.js';
import { durationRow } from './row.js';
import { commitInterval } from './throughput.js';

const name = 'startup';
const timeoutMs = 120_000;

export const startupRow = durationRow(name, measure);

async function measure(bench: Bench, side: Side): Promise<Sample> {
  const { topic: input } = await bench.inputs.get({ records: partitions, keys: partitions });
  const applicationId = bench.freshName(name);
  const output = await bench.freshTopic(`${name}-output`);
  const stateDir = await bench.stateDirectory(applicationId);
  const watch = watchFor(bench, output);
  const startedAt = Date.now();
  const app = bench.startApp(side, {
    topology: 'count',
    input,
    output,
    'application-id': applicationId,
    'state-dir': stateDir,
    guarantee: 'exactly_once',
    'commit-interval': commitInterval.exactly_once,
  });
  try {
    const seenAt = await app.unlessItEnds(watch.seen, timeoutMs);
    const memoryBytes = app.peakMemoryBytes;
    await app.progressFrom(seenAt);
    await app.close();
    return { value: (seenAt - startedAt) / 1000, cpu: app.cpuMsAt(seenAt) / 1000, memoryBytes };
  } finally {
    await app.kill();
    await watch.stop();
    await bench.removeApplication(applicationId, [output]);
    await rm(stateDir, { recursive: true, force: true });
  }
}

interface Watch {
  /** The wall clock, ms, at which the first committed record was seen. */
  readonly seen: Promise<number>;
  stop(): Promise<void>;
}

function watchFor(bench: Bench, topic: string): Watch {
  let fetcher: Fetcher | null = null;
  const seen = new Promise<number>((resolve, reject) => {
    const reader = (fetcher = new Fetcher(bench.port, {
      isolation: 'read_committed',
      autoOffsetReset: () => 'earliest',
      logger: silentLogger,
      onError: reject,
      onData: (chunk) => {
        reader.consumed(chunk.byteLength, chunk);
        resolve(Date.now());
      },
    }));
    for (let partition = 0; partition < partitions; partition++) reader.assign({ topic, partition }, 0);
    reader.start();
  });
  return { seen, stop: async () => fetcher?.stop() };
}
