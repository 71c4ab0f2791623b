import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from '@jest/globals';
import { alterGroupSettings } from '../../scripts/stack/group-settings.js';
import { serdes, StreamsBuilder } from '../../src/index.js';
import { until } from '../faults/until.js';
import { Scenario } from '../pitfalls/scenario.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function begin(name: string): Promise<Scenario> {
  const scenario = await Scenario.begin(name);
  closers.push(() => scenario.end());
  return scenario;
}

const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
const quickSession = { 'streams.session.timeout.ms': '3000', 'streams.heartbeat.interval.ms': '1000' };
const text = { keySerde: serdes.string, valueSerde: serdes.string };
const keys = Array.from({ length: 24 }, (_, i) => `key-${i}`);

describe('queries under load', () => {
  it.each(['classic', 'streams'] as const)(
    'any of two instances answers for every key, never with less than before; after kill -9 the other one does (%s group)',
    async (groupProtocol) => {
      const scenario = await begin(`queries-${groupProtocol}`);
      const topic = await scenario.topic('in', 4);
      if (groupProtocol === 'streams') await alterGroupSettings(brokers, `${topic}-app`, quickSession);
      const folder = await mkdtemp(join(tmpdir(), 'millrace-queries-'));
      closers.push(() => rm(folder, { recursive: true, force: true }));
      const [a, b] = [await startInstance(topic, folder, 'a', groupProtocol), await startInstance(topic, folder, 'b', groupProtocol)];
      const input = new Input(scenario, topic);
      const readers = [a, b].map((instance) => new Reader(instance.port));

      await input.sendFor(readers, async () => {
        await until('both answer for all keys', async () => (await readers[0]!.hasAll()) && (await readers[1]!.hasAll()), 60_000);
      });
      b.child.kill('SIGKILL');
      await once(b.child, 'exit');
      await input.sendFor([readers[0]!], async () => {
        await until('the one left answers for all keys', () => readers[0]!.hasAll(), 60_000);
      });
      await until('every record is counted', async () => (await readers[0]!.readAll()).every((count) => count === input.sent), 60_000);
      expect([...readers[0]!.faults, ...readers[1]!.faults]).toEqual([]);
      expect(readers[0]!.statuses.has(200)).toBe(true);
      expect([...readers[0]!.statuses].filter((status) => ![200, 502, 503, 508].includes(status))).toEqual([]);
    },
  );

  it('committed reads never show what an abort takes back', async () => {
    const scenario = await begin('aborts');
    const topic = await scenario.topic('in');
    let bombs = 3;
    const builder = new StreamsBuilder();
    builder
      .stream(topic, text)
      .groupByKey()
      .count({ materialized: { storeName: 'counts' } })
      .toStream()
      .foreach((_count, key) => {
        if (key !== 'bomb' || bombs === 0) return;
        bombs--;
        throw new Error('boom');
      });
    const app = await scenario.running(builder.build(), { commitInterval: 400, emit: 'onUpdate' });
    app.setUncaughtErrorHandler(() => 'replaceThread');
    app.on('error', () => undefined);
    const committed = app.store<string, number>('counts');
    const uncommitted = app.store<string, number>('counts', { isolation: 'uncommitted' });
    const seen: number[] = [];
    let open = 0;
    let atEnd = false;
    const reading = (async () => {
      while (!atEnd) {
        const [now, before] = await Promise.all([uncommitted.get('a').catch(() => null), committed.get('a').catch(() => null)]);
        if (before !== null) seen.push(before);
        if ((now ?? 0) > (before ?? 0)) open++;
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let round = 0; round < 8; round++) {
      await scenario.write(
        topic,
        Array.from({ length: 50 }, () => ({ key: 'a', value: 'x' })),
      );
      if (round % 2 === 0) await scenario.write(topic, [{ key: 'bomb', value: 'x' }]);
    }
    await until('all is counted', async () => (await committed.get('a').catch(() => null)) === 400, 60_000);
    atEnd = true;
    await reading;
    expect(bombs).toBe(0);
    expect(open).toBeGreaterThan(0);
    expect(seen).toEqual(seen.slice().sort((x, y) => x - y));
    expect(Math.max(...seen)).toBe(400);
    expect(await committed.get('bomb')).toBe(4);
  });
});

interface Instance {
  readonly child: ChildProcess;
  readonly port: number;
}

async function startInstance(topic: string, folder: string, name: string, groupProtocol: 'classic' | 'streams'): Promise<Instance> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  const setup = { topic, applicationId: `${topic}-app`, port, stateDir: join(folder, name), groupProtocol };
  const child = fork(join('integration-tests', 'queries', 'instance.ts'), {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, NODE_OPTIONS: '', QUERY_INSTANCE: JSON.stringify(setup) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  closers.push(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
  return { child, port };
}

/** Sends rounds of a record for each key. */
class Input {
  /** Records sent for each key. */
  sent = 0;

  constructor(
    private readonly scenario: Scenario,
    private readonly topic: string,
  ) {}

  /** Goes on sending, and asking for all keys, until `work` is done. */
  async sendFor(readers: readonly Reader[], work: () => Promise<void>): Promise<void> {
    let done = false;
    const sending = (async () => {
      while (!done) {
        this.sent++;
        await this.scenario.write(
          this.topic,
          keys.map((key) => ({ key, value: 'x' })),
        );
        for (const reader of readers) await reader.readAll();
      }
    })();
    await work().finally(() => {
      done = true;
    });
    await sending;
  }
}

/** Asks one instance, and notes every answer that is less than one before. */
class Reader {
  readonly faults: string[] = [];
  readonly statuses = new Set<number>();
  private readonly last = new Map<string, number>();

  constructor(private readonly port: number) {}

  async hasAll(): Promise<boolean> {
    return (await this.readAll()).every((count) => count !== null && count > 0);
  }

  /** Counts by key; null: no answer now. */
  readAll(): Promise<(number | null)[]> {
    return Promise.all(keys.map((key) => this.read(key)));
  }

  private async read(key: string): Promise<number | null> {
    const asked = this.last.get(key) ?? 0;
    const response = await fetch(`http://127.0.0.1:${this.port}/stores/counts/key?key=${key}`).catch(() => null);
    if (response === null) return null;
    this.statuses.add(response.status);
    const body = (await response.json()) as { readonly value?: number | null };
    if (response.status !== 200) return null;
    const count = body.value ?? 0;
    if (count < asked) this.faults.push(`${key}: ${count} after ${asked}`);
    this.last.set(key, Math.max(count, this.last.get(key) ?? 0));
    return count;
  }
}
