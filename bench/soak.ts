/** Runs `count` at full speed for long and watches the memory of its process: see README.md. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runMain } from '../scripts/run-main.js';
import { startKeeper } from '../scripts/stack/keeper.js';
import { printProgress } from '../scripts/stack/progress.js';
import { startStack } from '../scripts/stack/stack.js';
import { connect } from './clients/connect.js';
import { partitions } from './harness/bench.js';
import { compileNodeSide } from './harness/node-side.js';
import { SideProcess } from './harness/side-process.js';
import { Feeder } from './soak/feeder.js';
import { seriesOf, type MemoryReport } from './soak/series.js';
import { boundOf, judge } from './soak/verdict.js';

const usage = `Usage: node scripts/run.mjs bench/soak.ts [options]

  --minutes N    watched, after every key was written once (default 10)
  --keys N       keys (default 10000000)
  --memory MiB   the app's maxMemoryBytes (default 256)
  --json FILE    write verdict and series as JSON`;

const mebibyte = 2 ** 20;
const sampleEveryMs = 1000;
const loadTimeoutMs = 3_600_000;
const [input, output, applicationId] = ['soak-input', 'soak-output', 'soak'];
/** Of what was read nothing is needed any more. */
const shortLived = { 'retention.bytes': String(256 * mebibyte), 'segment.bytes': String(64 * mebibyte) };

interface SoakOptions {
  readonly minutes: number;
  readonly keys: number;
  readonly memoryBytes: number;
  readonly json: string | undefined;
}

async function main(args: string[]): Promise<number> {
  let options: SoakOptions;
  try {
    options = parseOptions(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  const reports = await soak(options);
  const { minutes, keys, memoryBytes, json } = options;
  const begin = reports[0]?.at ?? 0;
  const samples = reports.map(({ at, privateBytes }) => ({ seconds: (at - begin) / 1000, privateBytes }));
  const verdict = judge(samples, boundOf(memoryBytes, keys));
  const result = { settings: { minutes, keys, maxMemoryBytes: memoryBytes }, verdict, series: seriesOf(reports) };
  if (json !== undefined) await writeFile(json, `${JSON.stringify(result)}\n`);
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(
    [
      `highest ${megabytes(verdict.highestBytes)} of ${megabytes(verdict.boundBytes)}: ${verdict.isInside ? 'inside' : 'TOO MUCH'}`,
      `second half ${megabytes(verdict.slopeBytesPerMinute)} a minute, ${(verdict.growth * 100).toFixed(1)} % in all: ${verdict.isFlat ? 'flat' : 'GROWING'}`,
    ].join('\n'),
  );
  return verdict.isInside && verdict.isFlat ? 0 : 1;
}

async function soak({ minutes, keys, memoryBytes }: SoakOptions): Promise<MemoryReport[]> {
  const onProgress = printProgress();
  const log = (text: string): void => onProgress({ kind: 'step', text });
  const keeper = startKeeper();
  const scratch = await mkdtemp(join(tmpdir(), 'millrace-soak-'));
  keeper.addFolder(scratch);
  try {
    await using stack = await startStack({ onProgress, registry: false });
    const code = join(scratch, 'node');
    await mkdir(code);
    const node = await compileNodeSide(code, null);
    const port = await connect(stack.bootstrapServers, 'soak');
    try {
      const topics = [input, output].map((topic) => ({ topic, partitions, replicationFactor: -1, configs: shortLived }));
      for (const { topic, errorCode, errorMessage } of await port.admin.createTopics(topics)) {
        if (errorCode !== 0) throw new Error(`Topic ${topic}: ${errorMessage ?? errorCode}`);
      }
      const settings = {
        bootstrap: stack.bootstrapServers.join(','),
        topology: 'count',
        input,
        output,
        'application-id': applicationId,
        'state-dir': join(scratch, 'state'),
        guarantee: 'exactly_once',
        'commit-interval': 100,
        'max-memory-bytes': memoryBytes,
        'memory-every': sampleEveryMs,
      };
      const app = new SideProcess(node.command('ours/app', settings), keeper);
      const reports: MemoryReport[] = [];
      app.onMemory = (report) => reports.push(report);
      const feeder = new Feeder({ port, topic: input, keys }, () => app.progress.at(-1)?.processed ?? 0);
      try {
        log(`Loading ${keys.toLocaleString('en')} keys`);
        await unlessWritingFails(
          feeder,
          app.report('memory', loadTimeoutMs, ({ processed }) => processed >= keys),
        );
        const loaded = reports.length - 1;
        log(`Watching for ${minutes} minutes`);
        await unlessWritingFails(feeder, app.unlessItEnds(delay(minutes * 60_000), minutes * 60_000 + 60_000));
        return reports.slice(loaded);
      } finally {
        await feeder.stop().catch(() => undefined);
        await app.kill();
      }
    } finally {
      await port.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    await keeper.close();
  }
}

function unlessWritingFails<T>(feeder: Feeder, work: Promise<T>): Promise<T> {
  return Promise.race([work, feeder.ended.then(() => work)]);
}

function parseOptions(args: string[]): SoakOptions {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '10' },
      keys: { type: 'string', default: '10000000' },
      memory: { type: 'string', default: '256' },
      json: { type: 'string' },
    },
  });
  return {
    minutes: positive('minutes', values.minutes),
    keys: Math.ceil(positive('keys', values.keys)),
    memoryBytes: Math.ceil(positive('memory', values.memory) * mebibyte),
    json: values.json,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} must be a number above 0, not ${text}.`);
  return value;
}

await runMain(() => main(process.argv.slice(2)));
