/**
 * An app whose disk fills up, in a process of its own: the kernel refuses it files above a size (RLIMIT_FSIZE), as it refuses blocks when there are none left, so LevelDB's log ends in the middle of a write.
 *
 * `node --import tsx full-disk-run.ts passes|stops|restarts` prints what was seen as one line of JSON.
 */
import { execFileSync } from 'node:child_process';
import { cp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { MillraceError } from '../../../src/errors.js';
import { serdes } from '../../../src/serdes/serdes.js';
import { MemoryApps, until } from './memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`);
const apps = new MemoryApps();
let round = 0;

/** While it is full no file of this process grows beyond 96 KiB. */
function setFull(full: boolean): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${full ? 96 * 1024 : 'unlimited'}:`]);
}

/** How often a key came, and its last value. */
function countAndLast() {
  const builder = new StreamsBuilder();
  builder
    .stream('in', strings)
    .groupByKey()
    .aggregate(
      () => '0 -',
      (before, value) => `${Number(before.split(' ')[0]) + 1} ${value}`,
      { materialized: { storeName: 'rows', valueSerde: serdes.string } },
    )
    .toStream()
    .to('out', strings);
  return builder.build();
}

function writeRound(): void {
  round++;
  apps.kafka.produce(
    'in',
    keys.map((key) => ({ key, value: String(round).padEnd(500, '.') })),
  );
}

/** Every key came once a round; throws when a count was committed that is none. */
async function allCame(): Promise<void> {
  await until(`every key came ${round} times`, () => {
    const last = new Map(output());
    return keys.every((key) => last.get(key)?.startsWith(`${round} ${round}.`));
  });
  const counts = output().map(([key, value]) => `${key} ${value.split(' ')[0]}`);
  if (new Set(counts).size !== counts.length) throw new Error('a count was committed twice');
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = entries.filter((entry) => entry.isFile()).map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function output(): [string, string][] {
  return apps.kafka.records('out').map(({ key, value }) => [String(key), String(value)]);
}

const scenarios: Readonly<Record<string, (stateDir: string) => Promise<object>>> = {
  passes: async (stateDir) => {
    const app = await apps.running(countAndLast(), { stateDir });
    const failures = (): number => app.metrics().tasks['0_0']?.failedStateWrites ?? 0;
    setFull(true);
    while (failures() < 2) {
      writeRound();
      await allCame();
      await delay(100);
    }
    const stateWhileFull = app.state;
    setFull(false);
    const failed = failures();
    writeRound();
    await allCame();
    const [tasks, image] = [join(stateDir, 'app', 'tasks'), join(stateDir, 'image')];
    const full = await bytesIn(tasks);
    await until('the disk is written to again', async () => (await bytesIn(tasks)) > full);
    const failedAfterwards = failures() - failed;
    // As a crash would leave it now: the log has the torn write in its middle.
    await cp(tasks, image, { recursive: true });
    writeRound();
    await allCame();
    await app.close();
    await rm(tasks, { recursive: true });
    await rename(image, tasks);
    await apps.running(countAndLast(), { stateDir });
    writeRound();
    await allCame();
    const logged = apps.logged.some(({ level, message }) => level === 'error' && message.startsWith('writing the local state failed'));
    return { stateWhileFull, failedAfterwards, logged };
  },
  stops: async (stateDir) => {
    const app = apps.app(countAndLast(), { stateDir, maxUncommittedBytes: 64 * 1024 });
    const errors: MillraceError[] = [];
    app.on('error', (error) => {
      if (error instanceof MillraceError) errors.push(error);
    });
    await app.start();
    await fillUntil(() => app.state === 'error');
    setFull(false);
    await apps.running(countAndLast(), { stateDir });
    await allCame();
    return { errors: errors.map(({ code, cure, details }) => ({ code, cure, details })) };
  },
  restarts: async (stateDir) => {
    const restart = { strategy: 'fixedDelay', attempts: Infinity, delay: 100 } as const;
    const app = apps.app(countAndLast(), { stateDir, maxUncommittedBytes: 64 * 1024, restart });
    await app.start();
    await fillUntil(() => app.metrics().restarts.numRestarts >= 1);
    const { lastFailure } = app.metrics().restarts;
    setFull(false);
    await allCame();
    return { state: app.state, lastFailure };
  },
};

async function fillUntil(isOver: () => boolean): Promise<void> {
  setFull(true);
  await until(
    'the full disk has its effect',
    () => {
      if (round < 300) writeRound();
      return isOver();
    },
    30_000,
  );
}

apps.kafka.createTopic('in');
apps.kafka.createTopic('out');
const scenario = scenarios[process.argv[2] ?? ''];
if (scenario === undefined) throw new Error('which?');
try {
  console.log(JSON.stringify(await scenario(await apps.folder())));
} finally {
  setFull(false);
  await apps.end();
}
