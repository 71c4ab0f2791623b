import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { MemoryApps, until } from './harness/memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

let apps: MemoryApps;
beforeEach(() => {
  apps = new MemoryApps();
  apps.kafka.createTopic('in');
  apps.kafka.createTopic('out');
});
afterEach(() => apps.end());

it('metrics of a lookup join tell what its cache is good for, and how many calls are under way', async () => {
  const answers: (() => void)[] = [];
  const builder = new StreamsBuilder();
  builder
    .stream('in', strings)
    .leftLookupJoin(
      (key: string) => new Promise<string | null>((resolve) => answers.push(() => resolve(key === 'none' ? null : key.toUpperCase()))),
      (value, row) => `${value}:${row}`,
      { name: 'join', keyOf: (value) => value, cache: { ttl: 60_000, missingTtl: 60_000, valueSerde: serdes.string }, ...strings },
    )
    .to('out', strings);
  const app = await apps.running(builder.build());
  const counts = () => {
    const { asyncCalls, asyncCallsInFlight, lookupHits, lookupMissingHits, lookupMisses, lookupExpired, lookupShared } =
      app.metrics().tasks['0_0'] ?? {};
    return [asyncCalls, asyncCallsInFlight, lookupHits, lookupMissingHits, lookupMisses, lookupExpired, lookupShared];
  };
  const write = (...values: string[]): void =>
    apps.kafka.produce(
      'in',
      values.map((value) => ({ key: 'k', value })),
    );
  const out = (count: number): Promise<void> => until(`${count} came out`, () => apps.values('out').length === count);

  write('a', 'none', 'a');
  await until('two are asked for', () => answers.length === 2);
  expect(counts()).toEqual([2, 2, 0, 0, 2, 0, 0]);
  for (const answer of answers) answer();
  await out(3);
  expect(counts()).toEqual([2, 0, 0, 0, 2, 0, 1]);

  write('a', 'none', 'none');
  await out(6);
  expect(counts()).toEqual([2, 0, 1, 2, 2, 0, 1]);
});
