/** Records a second through a topology, from a warm app to the commit of the last record. See README.md for the measured span. */
import { rm } from 'node:fs/promises';
import { untilAllCommitted } from '../harness/committed-offsets.js';
import type { AppRival, Bench, Side } from '../harness/bench.js';
import type { Input, InputShape } from '../input/inputs.js';
import { summarise } from '../report/summary.js';
import { checkOutput } from './check-output.js';
import type { Row, Sample } from './row.js';
import { costRows, inTurn, valuesOf } from './row.js';
import type { Workload } from './workload.js';
import { workloads } from './workload.js';

export type Guarantee = 'exactly_once' | 'at_least_once';

/** Milliseconds, the same on both sides: the default of both under exactly-once, Kafka Streams' default otherwise. */
export const commitInterval: Readonly<Record<Guarantee, number>> = { exactly_once: 100, at_least_once: 30_000 };

/** Milliseconds, where the commit interval is what is changed. */
const transactionTimeout = 60_000;

const timeoutMs = 600_000;

/** Of the records asked for: a slower rival would hold up the rest. */
const shareOfRecords: Readonly<Record<AppRival, number>> = { 'Kafka Streams': 1, kafkajs: 0.25, '@kafkats/flow': 0.025 };

export const throughputRows: readonly Row[] = [
  row('map-eos', workloads.map, 'exactly_once'),
  row('map-alos', workloads.map, 'at_least_once'),
  row('json-map-eos', workloads['json-map'], 'exactly_once'),
  row('json-map-alos', workloads['json-map'], 'at_least_once'),
  row('count-eos-10k', workloads['count-10k'], 'exactly_once'),
  row('count-eos-100k', workloads['count-100k'], 'exactly_once'),
  { ...row('count-eos-100k-threads-2', workloads['count-100k'], 'exactly_once', 'Kafka Streams', 2), onlyIfNamed: true },
  row('count-alos-10k', workloads['count-10k'], 'at_least_once'),
  row('count-alos-100k', workloads['count-100k'], 'at_least_once'),
  { ...row('avro-count-eos', workloads['avro-count'], 'exactly_once'), needsRegistry: true },
  { ...row('avro-count-alos', workloads['avro-count'], 'at_least_once'), needsRegistry: true },
  row('tumbling-count-eos', workloads['tumbling-count'], 'exactly_once'),
  row('tumbling-count-alos', workloads['tumbling-count'], 'at_least_once'),
  row('session-count-eos', workloads['session-count'], 'exactly_once'),
  row('session-count-alos', workloads['session-count'], 'at_least_once'),
  row('repartition-count-eos', workloads['repartition-count'], 'exactly_once'),
  row('repartition-count-alos', workloads['repartition-count'], 'at_least_once'),
  row('stream-table-join-eos', workloads['stream-table-join'], 'exactly_once'),
  row('stream-table-join-alos', workloads['stream-table-join'], 'at_least_once'),
  row('stream-stream-join-eos', workloads['stream-stream-join'], 'exactly_once'),
  row('stream-stream-join-alos', workloads['stream-stream-join'], 'at_least_once'),
  row('map-eos-kafkats', workloads.map, 'exactly_once', '@kafkats/flow'),
  row('count-eos-10k-kafkats', workloads['count-10k'], 'exactly_once', '@kafkats/flow'),
  row('map-eos-kafkajs', workloads.map, 'exactly_once', 'kafkajs'),
  row('count-eos-10k-kafkajs', workloads['count-10k'], 'exactly_once', 'kafkajs'),
  { ...row('large-state-count-eos', workloads['count-10m'], 'exactly_once'), onlyIfNamed: true },
];

function row(name: string, workload: Workload, guarantee: Guarantee, against: AppRival = 'Kafka Streams', threads = 1): Row {
  return { name, against, run: (bench) => runThroughput(bench, { name, workload, guarantee, against, threads }) };
}

export interface Throughput {
  readonly name: string;
  readonly workload: Workload;
  readonly guarantee: Guarantee;
  readonly against: AppRival;
  /** Stream threads of each side. */
  readonly threads: number;
  readonly load?: Load;
}

/** What a point of a curve changes of its workload. */
export interface Load {
  readonly partitions?: number;
  readonly valueBytes?: number;
  /** Milliseconds. */
  readonly commitInterval?: number;
  readonly keys?: number;
  /** Records of the measured span. */
  readonly records?: number;
}

interface Inputs {
  /** Records behind the warm-up. */
  readonly measured: number;
  readonly input: Input;
  readonly other: Input | null;
}

/** Both sides in turn; the result is named after `what`. */
export async function runThroughput(bench: Bench, what: Throughput): ReturnType<Row['run']> {
  const { load = {} } = what;
  const { other, ...workload } = what.workload;
  const input = { ...workload.input, ...sizesOf(load) };
  const measured = load.records ?? Math.ceil(bench.options.records * shareOfRecords[what.against]);
  const asked = load.keys ?? workload.keys;
  const keys = input.preload ? Math.min(asked, 5 * measured) : asked;
  const records = measured + (input.preload ? 0 : Math.ceil(measured / 4));
  const inputs = {
    measured,
    input: await bench.inputs.get({ ...input, records, keys }),
    other: other === undefined ? null : await bench.inputs.get({ ...other, records: other.records === 'keys' ? keys : records, keys }),
  };
  const samples = await inTurn(bench, what.name, (side) => measure(bench, side, what, inputs));
  return [summarise(what.name, 'records/s', 'higher', valuesOf(samples)), ...costRows(what.name, samples, 'CPU s per million records')];
}

function sizesOf({ partitions, valueBytes }: Load): Pick<InputShape, 'partitions' | 'valueBytes'> {
  return { ...(partitions === undefined ? {} : { partitions }), ...(valueBytes === undefined ? {} : { valueBytes }) };
}

async function measure(bench: Bench, side: Side, what: Throughput, { measured, input, other }: Inputs): Promise<Sample> {
  const { name, workload, guarantee, against, threads, load = {} } = what;
  const { topology, repartition } = workload;
  const applicationId = bench.freshName(name);
  const output = await bench.freshTopic(`${name}-output`, load.partitions);
  const stateDir = await bench.stateDirectory(applicationId);
  const toProcess = input.records * (repartition === undefined ? 1 : 2) + (other?.records ?? 0);
  const settings = {
    topology,
    input: input.topic,
    output,
    'application-id': applicationId,
    'state-dir': stateDir,
    guarantee,
    ...(threads === 1 ? {} : { threads }),
    'commit-interval': load.commitInterval ?? commitInterval[guarantee],
    // The default of both is ten seconds, and must be above the interval.
    ...(load.commitInterval === undefined ? {} : { 'transaction-timeout': transactionTimeout }),
    ...(other === null ? {} : { other: other.topic }),
    // The next regular commit may be half a minute away: the one of closing counts.
    ...(guarantee === 'at_least_once' || load.commitInterval !== undefined ? { 'stop-after': toProcess } : {}),
  };
  const app = bench.startApp(side, settings, against);
  try {
    const warmUp = toProcess * (1 - measured / input.records);
    const start = await app.report('progress', timeoutMs, ({ processed }) => processed >= warmUp);
    const topics = [input.topic, ...(other === null ? [] : [other.topic])];
    const internal = repartition === undefined ? [] : [`${applicationId}-${repartition}`];
    const end = await app.unlessItEnds(untilAllCommitted(bench.port, applicationId, topics, internal), timeoutMs);
    const memoryBytes = app.peakMemoryBytes;
    await app.close();
    await checkOutput(bench.port, workload.output, output, input.records);
    // Records of the input: one that is processed twice, or meets one of the other side, counts once.
    const records = ((toProcess - start.processed) * input.records) / toProcess;
    return { value: (records / (end - start.at)) * 1000, cpu: ((app.cpuMsAt(end) - start.cpuMs) / records) * 1000, memoryBytes };
  } finally {
    await app.kill();
    await bench.removeApplication(applicationId, [output]);
    await rm(stateDir, { recursive: true, force: true });
  }
}
