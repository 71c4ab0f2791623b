/**
 * `npm run demo`: real flights through a real broker, two instances of the app, one of them killed half way, and every row of the result compared with the
 * answer computed directly. Exit code 1 when a single flight is lost, counted twice or different.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import colors from 'picocolors';
import { runMain } from '../../scripts/run-main.js';
import { printProgress } from '../../scripts/stack/progress.js';
import { startStack, type Stack } from '../../scripts/stack/stack.js';
import type { Airport } from '../02-flight-delays/topology.js';
import { Collector } from './collector.js';
import { compare, worstAirports } from './comparison.js';
import { disorder, expectedDays, readAirports, readFlights, type Departure } from './flight-data.js';
import { Instance } from './instance.js';
import { Traces } from './traces.js';

const partitions = 4;
const hour = 3_600_000;
/** Flights sent at once, and the pause after them: about 1000 flights a second, so that the kill comes in the middle of work. */
const batchSize = 50;
const batchPauseMs = 50;
const resultDeadlineMs = 90_000;

const say = (text: string): void => {
  console.log(text);
};
const step = (text: string): void => {
  say(`${colors.cyan('▸')} ${text}`);
};

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false }, replace: { type: 'boolean', default: false } } });
  say(colors.bold('\nMillrace demo: exactly-once flight delays\n'));
  const stack = await startStack({ onProgress: printProgress() });
  const stateDir = await mkdtemp(path.join(tmpdir(), 'millrace-demo-'));
  const kafka = new Kafka({ brokers: stack.bootstrapServers, clientId: 'demo', logLevel: logLevel.NOTHING });
  const env = { KAFKA_BROKERS: stack.bootstrapServers.join(','), APPLICATION_ID: `flight-delays-${Date.now().toString(36)}` };
  const instances = ['A', 'B'].map((name) => new Instance(name, { ...env, STATE_DIR: path.join(stateDir, name) }));
  const collector = new Collector();
  const traces = new Traces(kafka, env.APPLICATION_ID);
  try {
    const inTheWay = await traces.makeRoom(values.replace);
    if (inTheWay.length > 0) {
      say(`This cluster has the topics ${inTheWay.join(', ')} already, and the demo needs these names.`);
      say('To delete them and go on: npm run demo -- --replace');
      return 1;
    }
    const equal = await play(kafka, instances, collector);
    if (values.keep) await keepRunning(stack, env.APPLICATION_ID);
    return equal ? 0 : 1;
  } finally {
    for (const instance of instances) instance.abandon();
    await collector.stop();
    // A cluster that was there before is left as it was; one of the demo's own goes as a whole.
    if (stack.folder === null) await traces.remove();
    await stack.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}

async function play(kafka: Kafka, instances: readonly Instance[], collector: Collector): Promise<boolean> {
  const departures = readFlights();
  const airports = readAirports();
  const expected = expectedDays(departures, airports);
  await createTopics(kafka);
  const producer = kafka.producer();
  await producer.connect();
  step(`loading ${format(airports.size)} airports into a compacted topic`);
  await loadAirports(producer, airports);

  step('starting two instances of the app in one group');
  for (const instance of instances) instance.start();
  await Promise.all(instances.map((instance) => instance.until('running')));
  await collector.start(kafka, 'airport-days');

  step(`playing ${format(departures.length)} flights in the order of departure, with up to 4 hours of disorder`);
  const startedAt = Date.now();
  const recovery = await playFlights(producer, disorder(departures, 4 * hour), instances);
  await producer.disconnect();
  await untilComplete(collector, departures.length);
  const seconds = (collector.lastUpdateAt - startedAt) / 1000;

  for (const instance of instances) await instance.stop();
  return report(expected, collector, { flights: departures.length, seconds, recovery, instances });
}

async function createTopics(kafka: Kafka): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const compacted = [{ name: 'cleanup.policy', value: 'compact' }];
    // The flights are of 2001: a broker that counts retention from their time would delete them at once.
    const kept = [{ name: 'retention.ms', value: '-1' }];
    await admin.createTopics({
      waitForLeaders: true,
      topics: [
        { topic: 'airports', numPartitions: 1, configEntries: compacted },
        { topic: 'flights', numPartitions: partitions, configEntries: kept },
        { topic: 'airport-days', numPartitions: partitions, configEntries: compacted },
      ],
    });
  } finally {
    await admin.disconnect();
  }
}

async function loadAirports(producer: Producer, airports: ReadonlyMap<string, Airport>): Promise<void> {
  const messages = [...airports].map(([key, airport]) => ({ key, value: JSON.stringify(airport) }));
  for (let i = 0; i < messages.length; i += 1000) await producer.send({ topic: 'airports', messages: messages.slice(i, i + 1000) });
}

/** Sends the flights; half way it kills the first instance with -9 and starts it again. Resolves with the recovery time in ms. */
async function playFlights(producer: Producer, departures: readonly Departure[], instances: readonly Instance[]): Promise<number> {
  const bar = new SingleBar({
    format: `  [{bar}] {percentage}% {value}/{total} flights  {note}`,
    clearOnComplete: false,
    noTTYOutput: true,
    notTTYSchedule: 2000,
  });
  bar.start(departures.length, 0, { note: '' });
  const victim = instances[0] as Instance;
  let recovery: Promise<number> = Promise.resolve(0);
  let killed = false;
  for (let sent = 0; sent < departures.length; sent += batchSize) {
    const batch = departures.slice(sent, sent + batchSize);
    await producer.send({
      topic: 'flights',
      messages: batch.map(({ flight, timestamp }) => ({ key: flight.origin, value: JSON.stringify(flight), timestamp: String(timestamp) })),
    });
    bar.increment(batch.length);
    if (!killed && sent >= departures.length / 2) {
      killed = true;
      victim.kill();
      bar.update(sent + batch.length, { note: colors.red('instance A: kill -9') });
      recovery = restart(victim).then((ms) => {
        bar.update({ note: colors.green(`instance A: back after ${(ms / 1000).toFixed(1)} s`) });
        return ms;
      });
    }
    await delay(batchPauseMs);
  }
  const ms = await recovery;
  bar.stop();
  return ms;
}

async function restart(instance: Instance): Promise<number> {
  const killedAt = Date.now();
  instance.start();
  await instance.until('running');
  return Date.now() - killedAt;
}

async function untilComplete(collector: Collector, flights: number): Promise<void> {
  const deadline = Date.now() + resultDeadlineMs;
  while (collector.flights !== flights && Date.now() < deadline) await delay(100);
  // What is counted twice would come late: a moment of silence is awaited.
  while (Date.now() - collector.lastUpdateAt < 1500 && Date.now() < deadline) await delay(100);
}

function report(
  expected: ReturnType<typeof expectedDays>,
  collector: Collector,
  run: { readonly flights: number; readonly seconds: number; readonly recovery: number; readonly instances: readonly Instance[] },
): boolean {
  const table = new Table({
    head: ['airport', 'state', 'flights', 'mean delay'],
    colAligns: ['left', 'left', 'right', 'right'],
    style: { head: ['cyan'] },
  });
  for (const { airport, state, flights, meanDelay } of worstAirports(collector.rows.values(), 100, 8)) {
    table.push([airport, state, format(flights), `${meanDelay.toFixed(1)} min`]);
  }
  say(`\nMost delayed airports with at least 100 flights\n${table.toString()}`);
  const epochs = run.instances.reduce((total, { metrics }) => total + (metrics?.epochs?.epochs ?? 0), 0);
  say(
    `${format(collector.updates)} updates in ${run.seconds.toFixed(1)} s (${format(Math.round(run.flights / run.seconds))} flights/s) · ` +
      `${format(epochs)} epochs committed since the restart · recovery after kill -9: ${(run.recovery / 1000).toFixed(1)} s`,
  );
  const { windows, lost, duplicated, different } = compare(expected, collector);
  const equal = lost === 0 && duplicated === 0 && different === 0 && windows === expected.size;
  const verdict = `${format(run.flights)} flights in · ${format(windows)} windows · ${lost} lost · ${duplicated} duplicated · ${different} different`;
  say(`\n${equal ? colors.green(colors.bold(verdict)) : colors.red(colors.bold(verdict))}\n`);
  return equal;
}

async function keepRunning(stack: Stack, applicationId: string): Promise<void> {
  const brokers = stack.bootstrapServers.join(',');
  say(`Everything is kept. Brokers: ${brokers}`);
  say(`  topics: airports, flights, airport-days (results), ${applicationId}-daily-delays-store-changelog (state)`);
  say(`  logs:   ${stack.folder ?? '(of a stack that was there before)'}`);
  say(
    `  the app once more, from the beginning: KAFKA_BROKERS=${brokers} APPLICATION_ID=${applicationId}-again npx tsx examples/02-flight-delays/app.ts`,
  );
  say(stack.folder === null ? 'Ctrl-C removes topics and groups of the demo.' : 'Ctrl-C stops the brokers and removes everything.');
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

function format(count: number): string {
  return count.toLocaleString('en-US');
}

await runMain(main);
