/** `npm run stack -- up|down|status`: keeps one stack running between commands. */
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runMain } from '../run-main.js';
import { startKeeper } from './keeper.js';
import { printProgress } from './progress.js';
import type { BrokerCount } from './settings.js';
import { launchStack } from './stack.js';
import type { StackState } from './state.js';
import { readState, removeState, runningPids, writeState } from './state.js';

const usage = `Usage: npm run stack -- <command> [options]

  up      start Kafka and a schema registry and leave them running
  down    stop them and remove their data
  status  say what runs

Options of up:
  --brokers 1|3    how many brokers (default 1)
  --acl            SASL/PLAIN and access control
  --no-registry    Kafka alone`;

interface UpOptions {
  readonly brokers: BrokerCount;
  readonly acl: boolean;
  readonly registry: boolean;
}

async function main(args: string[]): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({
      args,
      allowPositionals: true,
      options: {
        brokers: { type: 'string', default: '1' },
        acl: { type: 'boolean', default: false },
        'no-registry': { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  const { values, positionals } = parsed;
  const brokers = values.brokers === '1' ? 1 : values.brokers === '3' ? 3 : null;
  if (positionals.length !== 1 || brokers === null) {
    console.error(usage);
    return 2;
  }
  switch (positionals[0]) {
    case 'up':
      return up({ brokers, acl: values.acl, registry: !values['no-registry'] });
    case 'down':
      return down();
    case 'status':
      return status();
    default:
      console.error(usage);
      return 2;
  }
}

async function up(options: UpOptions): Promise<number> {
  const state = await readState();
  if (state && isWhole(state)) {
    if (state.brokers === options.brokers && state.acl === options.acl && (state.registryUrl !== null || !options.registry)) {
      console.log(describe(state));
      return 0;
    }
    console.error(`Another stack is up (${summary(state)}); stop it first: npm run stack -- down`);
    return 1;
  }
  if (state) await takeDown(state);
  // Until all of it is up, an interruption ends what was started.
  const keeper = startKeeper();
  const stack = await launchStack({ ...options, own: true, onProgress: printProgress() }, () => keeper);
  if (stack.folder === null) throw new Error('A stack of its own has a folder');
  const { bootstrapServers, registryUrl, credentials, pids, folder } = stack;
  const started: StackState = { brokers: options.brokers, acl: options.acl, bootstrapServers, registryUrl, credentials, pids, folder };
  await writeState(started);
  await keeper.release();
  console.log(describe(started));
  return 0;
}

async function down(): Promise<number> {
  const state = await readState();
  if (!state) {
    console.log('No stack is up.');
    return 0;
  }
  await takeDown(state);
  console.log('Stopped, and its data removed.');
  return 0;
}

async function status(): Promise<number> {
  const state = await readState();
  if (!state) {
    console.log('No stack is up.');
    return 1;
  }
  if (!isWhole(state)) {
    console.log(`A stack was started (${summary(state)}), but not all of it runs any more; \`npm run stack -- up\` starts it anew.`);
    return 1;
  }
  console.log(describe(state));
  return 0;
}

async function takeDown(state: StackState): Promise<void> {
  for (const pid of runningPids(state)) process.kill(pid, 'SIGKILL');
  while (runningPids(state).length > 0) await delay(50);
  await rm(state.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  await removeState();
}

function isWhole(state: StackState): boolean {
  return runningPids(state).length === state.pids.length;
}

function summary({ brokers, acl, registryUrl }: StackState): string {
  const parts = [brokers === 1 ? '1 broker' : `${brokers} brokers`, registryUrl === null ? 'no registry' : 'registry'];
  return [...parts, ...(acl ? ['access control'] : [])].join(', ');
}

function describe(state: StackState): string {
  const lines = [`Up: ${summary(state)}. Logs and data: ${state.folder}`, '', `export KAFKA_BROKERS=${state.bootstrapServers.join(',')}`];
  if (state.registryUrl !== null) lines.push(`export SCHEMA_REGISTRY_URL=${state.registryUrl}`);
  if (state.credentials) {
    const { superUser, user } = state.credentials;
    lines.push(
      '',
      `SASL/PLAIN users: ${superUser.username} / ${superUser.password} (all rights), ${user.username} / ${user.password} (none on the cluster)`,
    );
  }
  return lines.join('\n');
}

await runMain(() => main(process.argv.slice(2)));
