/**
 * One Millrace app, as java/…/BenchApp.java is one of Kafka Streams: same arguments, same lines on stdout, same end. It closes when its standard
 * input ends or when it has processed as many records as it was told, leaves the group, and exits.
 */
import { StreamsApp } from '../../src/index.js';
import type { RestoreListener, StreamsConfig } from '../../src/index.js';
import { ReadArguments } from '../harness/arguments.js';
import { endOfInput } from '../harness/end-of-input.js';
import { readResidentMemory } from '../harness/resident-memory.js';
import { cpuMs, sayReport } from '../harness/side-report.js';
import { buildTopology } from './topologies.js';
import type { TopologyName } from './topologies.js';

const options = new ReadArguments(process.argv.slice(2));
const topics = {
  input: options.text('input'),
  other: options.text('other', ''),
  output: options.text('output'),
  registryUrl: options.text('registry', ''),
};
const topology = options.text('topology') as TopologyName;
const threads = options.number('threads', 1);
const config: StreamsConfig = {
  applicationId: options.text('application-id'),
  bootstrapServers: options.text('bootstrap'),
  stateDir: options.text('state-dir'),
  processingGuarantee: options.text('guarantee') === 'exactly_once' ? 'exactly_once' : 'at_least_once',
  commitInterval: options.number('commit-interval'),
  transactionTimeout: options.number('transaction-timeout', 10_000),
  ...memoryConfig(),
  ...groupConfig(),
};
const app = threads === 1 ? new StreamsApp(buildTopology(topology, topics), config) : await severalThreads();
const stopAfter = options.number('stop-after', Infinity);

app.on('state', (state) => sayReport({ event: 'state', state: state.toLowerCase() }));
app.on('error', (error) => {
  console.error(error);
  process.exit(1);
});
app.setRestoreListener(restoreReports());
if (options.text('tell-tasks', 'no') === 'yes') setInterval(reportTasks, 250);
const memoryEvery = options.number('memory-every', 0);
if (memoryEvery > 0) setInterval(reportMemory, memoryEvery);
sayReport({ event: 'starting' });
await Promise.all([app.start(), Promise.race([endOfInput(), enoughProcessed()]).then(() => app.close())]);
reportProgress();
process.exit(0);

function memoryConfig(): Partial<StreamsConfig> {
  const maxMemoryBytes = options.number('max-memory-bytes', 0);
  return maxMemoryBytes === 0 ? {} : { maxMemoryBytes };
}

/** The broker has the rest of the settings of a streams group. */
function groupConfig(): Partial<StreamsConfig> {
  const groupProtocol = options.text('group-protocol', 'classic');
  if (groupProtocol === 'streams') return { groupProtocol };
  return {
    numStandbyReplicas: options.number('standbys', 0),
    sessionTimeout: options.number('session-timeout', 10_000),
    probingRebalanceInterval: options.number('probing-interval', 600_000),
  };
}

/** Workers share the environment, not the arguments. */
function severalThreads(): Promise<StreamsApp> {
  process.env['BENCH_TOPOLOGY'] = JSON.stringify({ topology, topics });
  return StreamsApp.fromModule(new URL('./threads-topology.js', import.meta.url), { ...config, threads });
}

function restoreReports(): RestoreListener {
  let records = 0;
  return {
    onEnd: ({ recordsRestored }) => {
      records += recordsRestored;
      sayReport({ event: 'restored', records });
    },
  };
}

function reportTasks(): void {
  const { tasks, standbys } = app.metrics();
  const running = Object.keys(tasks).filter((id) => tasks[id]?.active);
  const lag = Object.values(standbys).reduce((sum, copy) => sum + copy.lag, 0);
  sayReport({ event: 'tasks', active: running.map((id) => Number(id.split('_')[1])), copies: Object.keys(standbys).length, lag });
}

/** Reads the tasks' own counters every 10 ms, so that nothing is counted on the record path. */
function enoughProcessed(): Promise<void> {
  return new Promise((resolve) => {
    setInterval(() => {
      if (reportProgress() >= stopAfter) resolve();
    }, 10);
  });
}

function reportMemory(): void {
  const { rss, heapUsed, heapTotal, arrayBuffers } = process.memoryUsage();
  const { privateBytes = rss, fileBytes = 0 } = readResidentMemory('self') ?? {};
  const { memory: held } = app.metrics();
  sayReport({ event: 'memory', processed: processedSoFar(), privateBytes, fileBytes, heapUsed, heapTotal, arrayBuffers, held });
}

function processedSoFar(): number {
  return Object.values(app.metrics().tasks).reduce((sum, task) => sum + task.recordsProcessed, 0);
}

function reportProgress(): number {
  const processed = processedSoFar();
  sayReport({ event: 'progress', processed, cpuMs: cpuMs() });
  return processed;
}
