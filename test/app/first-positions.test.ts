import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { OffsetReset } from '../../src/time/offset-reset.js';
import { MemoryApps, until } from './harness/memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

let apps: MemoryApps;
beforeEach(() => {
  apps = new MemoryApps();
  apps.kafka.createTopic('in');
  apps.kafka.createTopic('out');
});
afterEach(() => apps.end());

const write = (...values: string[]): void =>
  apps.kafka.produce(
    'in',
    values.map((value) => ({ value })),
  );
const committed = (app: StreamsApp): number => app.metrics().epochs?.epochs ?? 0;

describe.each<readonly [string, OffsetReset]>([
  ['latest', 'latest'],
  ['a duration', { duration: 0 }],
])('a partition without a committed offset, begun by %s,', (_, autoOffsetReset) => {
  let failures = 0;
  const copying = (): StreamsApp => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', strings)
      .mapValues((value) => {
        if (value === 'later' && failures-- > 0) throw new Error('not yet');
        return value;
      })
      .to('out', strings);
    return apps.app(builder.build(), { autoOffsetReset, restart: { strategy: 'fixedDelay', attempts: 5, delay: 1 } });
  };
  /** With the place where it begins, or begins anew, committed. */
  const started = async (): Promise<StreamsApp> => {
    const app = copying();
    await app.start();
    await until('its beginning is committed', () => app.state === 'running' && committed(app) === 1);
    return app;
  };

  it('has its first record processed again when the epoch is lost', async () => {
    write('before');
    failures = 2;
    const app = await started();
    write('later', 'last');
    await until('both came out', () => apps.values('out').length >= 2);
    expect(apps.values('out')).toEqual(['later', 'last']);
    expect(app.metrics().restarts.numRestarts).toBe(2);
  });

  it('goes on there after a stop, though no record had come', async () => {
    await (await started()).close();
    write('meanwhile');
    const again = copying();
    await again.start();
    await until('it came out', () => apps.values('out').length === 1);
    expect(apps.values('out')).toEqual(['meanwhile']);
  });

  it('is begun anew once when its position has left the log, and goes on there after a stop', async () => {
    await (await started()).close();
    write('deleted', 'deleted too');
    const admin = apps.kafka.port({ clientId: 'retention' });
    await admin.admin.deleteRecords([{ topic: 'in', partition: 0, offset: 2 }]);
    await (await started()).close();
    write('meanwhile');
    const again = copying();
    await again.start();
    await until('it came out', () => apps.values('out').length === 1);
    expect(apps.values('out')).toEqual(['meanwhile']);
  });

  it('is committed once: an idle app commits no more', async () => {
    const app = await started();
    write('a');
    await until('a came out', () => apps.values('out').length === 1);
    expect(committed(app)).toBe(2);
  });
});

it('a partition that begins at its earliest record needs no commit for that', async () => {
  const builder = new StreamsBuilder();
  builder.stream('in', strings).to('out', strings);
  const app = await apps.running(builder.build());
  write('a');
  await until('a came out', () => apps.values('out').length === 1);
  expect(committed(app)).toBe(1);
});
