import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes, StreamsBuilder } from '../../src/index.js';
import { until } from '../faults/until.js';
import { Scenario, text } from '../pitfalls/scenario.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

let scenario: Scenario;
afterEach(() => scenario.end());

describe('a user function that never returns', () => {
  it('does not hold the group up for longer than rebalanceTimeout: its records are processed again, once', async () => {
    scenario = await Scenario.begin('stuck');
    const [from, to] = [await scenario.topic('in', 2), await scenario.topic('out', 2)];
    let stuck = 0;
    const builder = new StreamsBuilder();
    builder
      .stream(from, strings)
      .mapValues((value) => (value === 'stuck' && stuck++ === 0 ? new Promise<string>(() => undefined) : value))
      .to(to, { valueSerde: serdes.string });
    const topology = builder.build();
    const rebalanceTimeout = 3000;
    const first = await scenario.running(topology, { rebalanceTimeout });
    const values = ['a', 'b', 'stuck', 'c', 'd'];
    await scenario.write(
      from,
      [0, 1].flatMap((partition) => (partition === 0 ? values : ['x', 'y']).map((value) => ({ key: value, value, partition }))),
    );
    await until('the function is stuck', () => stuck > 0);
    const second = await scenario.running(topology, { rebalanceTimeout });
    const written = await scenario.read(to, 7);
    expect(written.map(({ value }) => text(value)).sort()).toEqual([...values, 'x', 'y'].sort());
    await until('both run', () => first.state === 'running' && second.state === 'running');
    const [told] = scenario.logged.filter(({ message }) => message.includes('waits for this member to give up tasks'));
    expect(told?.message).toContain(`record of ${from}-0 at offset 2`);
    const tasks = [first, second].map((app) => Object.values(app.metrics().tasks).filter(({ active }) => active).length);
    expect(tasks).toEqual([1, 1]);
    // What is written now comes behind everything before it, so nothing was written twice.
    await scenario.write(
      from,
      [0, 1].map((partition) => ({ key: 'end', value: 'end', partition })),
    );
    expect(await scenario.read(to, 9)).toHaveLength(9);
  });
});
