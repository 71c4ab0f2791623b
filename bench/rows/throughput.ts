/** Records a second through a topology, from a warm app to the commit of the last record. See README.md for the measured span. */
import { rm } from 'node:fs/promises';
import { untilCommitted } from '../harness/committed-offsets.js';
import type { Bench, Side } from '../harness/bench.js';
import { partitions } from '../harness/bench.js';
import type { Input } from '../input/inputs.js';
import type { TopologyName } from '../ours/topologies.js';
import { summarise } from '../report/summary.js';
import { checkOutput } from './check-output.js';
import type { Row, Sample } from './row.js';
import { costRows, inTurn, valuesOf } from './row.js';

interface Throughput {
  readonly name: string;
  readonly topology: TopologyName;
  readonly guarantee: Guarantee;
  readonly keys: number;
}

export type Guarantee = 'exactly_once' | 'at_least_once';

/** Milliseconds, the same on both sides: the default of both under exactly-once, Kafka Streams' default otherwise. */
export const commitInterval: Readonly<Record<Guarantee, number>> = { exactly_once: 100, at_least_once: 30_000 };

const timeoutMs = 600_000;

export const throughputRows: readonly Row[] = (
  [
    { name: 'map-eos', topology: 'map', guarantee: 'exactly_once', keys: 100_000 },
    { name: 'map-alos', topology: 'map', guarantee: 'at_least_once', keys: 100_000 },
    { name: 'count-eos-10k', topology: 'count', guarantee: 'exactly_once', keys: 10_000 },
    { name: 'count-eos-100k', topology: 'count', guarantee: 'exactly_once', keys: 100_000 },
    { name: 'count-alos-10k', topology: 'count', guarantee: 'at_least_once', keys: 10_000 },
    { name: 'count-alos-100k', topology: 'count', guarantee: 'at_least_once', keys: 100_000 },
  ] as const satisfies readonly Throughput[]
).map((what) => ({ name: what.name, against: 'Kafka Streams', run: (bench) => run(bench, what) }));

async function run(bench: Bench, what: Throughput): ReturnType<Row['run']> {
  const input = await bench.inputs.get({ records: bench.warmUp + bench.options.records, keys: what.keys });
  const samples = await inTurn(bench, what.name, (side) => measure(bench, side, what, input));
  return [summarise(what.name, 'records/s', 'higher', valuesOf(samples)), ...costRows(what.name, samples, 'CPU s per million records')];
}

async function measure(bench: Bench, side: Side, { name, topology, guarantee }: Throughput, input: Input): Promise<Sample> {
  const applicationId = bench.freshName(name);
  const output = await bench.freshTopic(`${name}-output`);
  const stateDir = await bench.stateDirectory(applicationId);
  const app = bench.startApp(side, {
    topology,
    input: input.topic,
    output,
    'application-id': applicationId,
    'state-dir': stateDir,
    guarantee,
    'commit-interval': commitInterval[guarantee],
    // The next regular commit may be half a minute away: the one of closing counts.
    ...(guarantee === 'at_least_once' ? { 'stop-after': input.records } : {}),
  });
  try {
    const start = await app.report('progress', timeoutMs, ({ processed }) => processed >= bench.warmUp);
    const end = await app.unlessItEnds(untilCommitted(bench.port, applicationId, input.topic, partitions), timeoutMs);
    const memoryBytes = app.peakMemoryBytes;
    await app.close();
    await checkOutput(bench.port, topology, output, input.records);
    const records = input.records - start.processed;
    return { value: (records / (end - start.at)) * 1000, cpu: ((app.cpuMsAt(end) - start.cpuMs) / records) * 1000, memoryBytes };
  } finally {
    await app.kill();
    await bench.removeApplication(applicationId, [output]);
    await rm(stateDir, { recursive: true, force: true });
  }
}
