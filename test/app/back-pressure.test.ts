/** What is slow holds its source up: memory stays inside the bounds, nothing is dropped, epochs go on, and the metrics say where. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { NetworkFaults } from '../../src/testing/in-memory-kafka/client-network.js';
import { MemoryApps, until } from './harness/memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const kibibyte = 1024;

let apps: MemoryApps;
beforeEach(() => {
  apps = new MemoryApps();
  apps.kafka.createTopic('in');
  apps.kafka.createTopic('out');
});
afterEach(() => apps.end());

function copy(work: (value: string) => string | Promise<string> = (value) => value) {
  const builder = new StreamsBuilder();
  builder
    .stream('in', strings)
    .mapValues(async (value) => work(value), { valueSerde: serdes.string })
    .to('out', strings);
  return builder.build();
}

/** Each a batch of its own. */
function write(count: number, bytes: number): void {
  apps.kafka.produce(
    'in',
    Array.from({ length: count }, (_, i) => ({ key: 'k', value: String(i).padEnd(bytes, '.') })),
  );
}

const numbers = (): number[] => apps.values('out').map((value) => Number.parseInt(value ?? '', 10));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('a slow processor', () => {
  it('is busy; its input waits in the log, and in memory no more than maxBufferedBytes', async () => {
    const app = apps.app(
      copy((value) => new Promise((resolve) => setTimeout(() => resolve(value), 3))),
      { maxBufferedBytes: 64 * kibibyte },
    );
    write(300, 4 * kibibyte);
    await app.start();
    let most = 0;
    await until(
      'half of it is done',
      () => {
        most = Math.max(most, app.metrics().fetcher?.bufferedBytes ?? 0);
        return numbers().length >= 150;
      },
      30_000,
    );
    const { tasks, epochs } = app.metrics();
    expect(most).toBeLessThanOrEqual(64 * kibibyte);
    expect(tasks['0_0']?.busyTimeMsPerSecond).toBeGreaterThan(500);
    expect(tasks['0_0']?.backPressuredTimeMsPerSecond).toBeLessThan(200);
    expect(epochs?.epochs).toBeGreaterThan(3);
    await until('all of it is done', () => numbers().length === 300, 30_000);
    expect(numbers()).toEqual(upTo(300));
    expect(app.metrics().fetcher?.bufferedBytes).toBe(0);
  });
});

describe('a slow broker', () => {
  it('holds its tasks up once maxUncommittedBytes are reached: back-pressured, and every epoch completes', async () => {
    let faults: NetworkFaults = {};
    const app: StreamsApp = apps.app(copy(), { maxUncommittedBytes: 64 * kibibyte, maxBufferedBytes: 1024 * kibibyte }, () => faults);
    await app.start();
    await until('it runs', () => app.state === 'running');
    faults = { delayMs: [60, 80] };
    write(1200, 4 * kibibyte);
    await until(
      'it is held up',
      () => {
        const { tasks, thread } = app.metrics();
        return [tasks['0_0'], thread].every((shares) => (shares?.backPressuredTimeMsPerSecond ?? 0) > 200);
      },
      30_000,
    );
    faults = {};
    await until('all of it is done', () => numbers().length === 1200, 30_000);
    expect(numbers()).toEqual(upTo(1200));
    expect(app.metrics().epochs?.failedEpochs).toBe(0);
    // 4.8 MB in epochs of 64 KiB and what comes while one is in flight: none was swallowed whole.
    expect(app.metrics().epochs?.epochs).toBeGreaterThan(8);
  });
});

describe('tasks without records', () => {
  it('are idle', async () => {
    const app = await apps.running(copy());
    await until('it shows', () => (app.metrics().tasks['0_0']?.idleTimeMsPerSecond ?? 0) > 900);
    const { busyTimeMsPerSecond = 0, backPressuredTimeMsPerSecond = 0, idleTimeMsPerSecond = 0 } = app.metrics().tasks['0_0'] ?? {};
    expect(busyTimeMsPerSecond + backPressuredTimeMsPerSecond + idleTimeMsPerSecond).toBe(1000);
  });
});
