/** Time from writing a record to seeing its committed result, 100 records a second, exactly once, commit interval 100 ms on both sides. */
import type { Bench, Side } from '../harness/bench.js';
import { percentile, summarise } from '../report/summary.js';
import { Probes } from './probes.js';
import type { Row, Sample } from './row.js';
import { costRows, inTurn, valuesOf } from './row.js';
import { commitInterval } from './throughput.js';

const name = 'commit-latency';
const warmUpProbes = 500;
const measuredProbes = 1_000;
const timeoutMs = 120_000;

interface Latencies extends Sample {
  readonly p99: number;
}

export const commitLatencyRow: Row = {
  name,
  against: 'Kafka Streams',
  async run(bench) {
    const samples = await inTurn(bench, name, (side) => measure(bench, side));
    return [
      summarise(`${name}-p50`, 'ms', 'lower', valuesOf(samples)),
      summarise(
        `${name}-p99`,
        'ms',
        'lower',
        valuesOf(samples, ({ p99 }) => p99),
      ),
      ...costRows(name, samples, 'CPU s per thousand records'),
    ];
  },
};

async function measure(bench: Bench, side: Side): Promise<Latencies> {
  const applicationId = bench.freshName(name);
  const [input, output] = [await bench.freshTopic(`${name}-input`), await bench.freshTopic(`${name}-output`)];
  const app = bench.startApp(side, {
    topology: 'count',
    input,
    output,
    'application-id': applicationId,
    'state-dir': await bench.stateDirectory(applicationId),
    guarantee: 'exactly_once',
    'commit-interval': commitInterval.exactly_once,
  });
  let probes: Probes | null = null;
  try {
    await app.report('state', timeoutMs, ({ state }) => state === 'running');
    probes = await Probes.start(bench, input, output);
    await app.unlessItEnds(probes.latencies(0, warmUpProbes), timeoutMs);
    const startedAt = Date.now();
    const latencies = await app.unlessItEnds(probes.latencies(warmUpProbes, measuredProbes), timeoutMs);
    const cpu = (app.cpuMsAt(Date.now()) - app.cpuMsAt(startedAt)) / measuredProbes;
    const memoryBytes = app.peakMemoryBytes;
    await probes.stop();
    probes = null;
    await app.close();
    return { value: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), cpu, memoryBytes };
  } finally {
    await probes?.stop();
    await app.kill();
    await bench.removeApplication(applicationId, [input, output]);
  }
}
