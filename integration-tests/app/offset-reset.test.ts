import { afterEach, expect, it } from '@jest/globals';
import { serdes, StreamsBuilder } from '../../src/index.js';
import { Scenario, text } from '../pitfalls/scenario.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const hour = 3_600_000;

let scenario: Scenario;
afterEach(() => scenario.end());

it('a beginning by duration is that of the broker’s clockwork: the first record no older, else the end; copies go to every partition named', async () => {
  scenario = await Scenario.begin('reset');
  const [recent, old, output] = [await scenario.topic('recent'), await scenario.topic('old'), await scenario.topic('out', 3)];
  const now = Date.now();
  const at = (ago: number, value: string) => ({ key: 'k', value, timestamp: now - ago });
  await scenario.write(recent, [at(5 * hour, 'five hours old'), at(hour / 2, 'half an hour old'), at(0, 'now')]);
  await scenario.write(old, [at(5 * hour, 'five hours old'), at(2 * hour, 'two hours old')]);
  const builder = new StreamsBuilder();
  const partitioner = { partition: (_topic: string, _key: unknown, value: unknown) => (value === 'now' ? [0, 2] : 1) };
  for (const [topic, offsetReset] of [
    [recent, undefined],
    [old, { duration: 0 }],
  ] as const)
    builder.stream(topic, { ...strings, offsetReset }).to(output, { ...strings, partitioner });
  const app = await scenario.running(builder.build(), { autoOffsetReset: { duration: hour } });
  await scenario.write(old, [at(4 * hour, 'comes late')]);
  const records = await scenario.read(output, 4);
  const seen = records.map(({ partition, value }) => `${partition} ${text(value)}`);
  expect(seen.sort()).toEqual(['0 now', '1 comes late', '1 half an hour old', '2 now']);
  expect(app.state).toBe('running');
});
