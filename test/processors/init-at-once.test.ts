import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { doneAtOnce } from '../../src/processors/result-at-once.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const rejected = async (): Promise<void> => {
  await Promise.resolve();
  throw new Error('later');
};
/** As plain JavaScript may give it: the types refuse it. */
const init: () => unknown = rejected;
const nothing = () => undefined;

const builds: Readonly<Record<string, (builder: StreamsBuilder) => unknown>> = {
  process: (b) => b.stream('in', text).process(() => ({ init, process: nothing }), { name: 'node' }),
  processValues: (b) => b.stream('in', text).processValues(() => ({ init, process: nothing }), { name: 'node' }),
  processAsync: (b) => b.stream('in', text).processAsync(() => ({ init, call: () => 1, process: nothing }), { name: 'node', ...text }),
  transformValues: (b) => b.table('in', text).transformValues(() => ({ init, transform: () => '' }), { name: 'node' }),
};

describe('an init that gives a promise', () => {
  it.each(Object.entries(builds))('of %s is refused by name, and its rejection ends nothing', async (_what, build) => {
    const builder = new StreamsBuilder();
    build(builder);
    const unhandled: unknown[] = [];
    const listen = (error: unknown): number => unhandled.push(error);
    process.on('unhandledRejection', listen);
    try {
      const driver = new TopologyTestDriver(builder.build());
      await expect(driver.inputTopic('in', text).pipe('k', 'v')).rejects.toMatchObject({
        code: 'MILL_STATE_INVALID',
        message: expect.stringContaining('Processor node: init gave a promise'),
      });
      await driver.close().catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('unhandledRejection', listen);
    }
    expect(unhandled).toEqual([]);
  });
});

describe('a promise where a result is due at once', () => {
  it('is refused without an unhandled rejection', () => {
    expect(() => doneAtOnce('it', rejected())).toThrow('gave a promise');
  });
});
