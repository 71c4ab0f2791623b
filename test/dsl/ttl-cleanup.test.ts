import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { MillraceError } from '../../src/errors.js';
import type { KeyedProcessor, KeyedProcessorContext } from '../../src/processors/event-time/keyed-processor.js';
import { listState, mapState, valueState } from '../../src/processors/state/state-descriptor.js';
import type { IncrementalCleanup } from '../../src/processors/state/state-ttl.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };

/** Keeps the last value of each key, unless it is `-`, in a state of each shape. */
function setup(cleanupIncrementally?: IncrementalCleanup) {
  const ttl = { ttl: 1000, cleanupIncrementally };
  const last = valueState<string>('last', { serde: serdes.string, ttl });
  const list = listState<string>('list', { serde: serdes.string, ttl });
  const map = mapState<string, string>('map', { ttl });
  class Keep implements KeyedProcessor<string, string> {
    private write!: (value: string) => void;
    init(context: KeyedProcessorContext<string, never, never>): void {
      const [value, values, entries] = [context.state(last), context.state(list), context.state(map)];
      this.write = (text) => {
        value.update(text);
        values.add(text);
        entries.put(text, text);
      };
    }
    process({ value }: { readonly value: string }): void {
      if (value !== '-') this.write(value);
    }
  }
  const builder = new StreamsBuilder();
  builder
    .stream('in', texts)
    .keyBy()
    .process(() => new Keep(), { name: 'keep', states: [last, list, map] });
  const driver = new TopologyTestDriver(builder.build());
  const input = driver.inputTopic('in', texts);
  const rows = async (): Promise<number> => {
    const store = await driver.store<{ readonly name: string; readonly kind: 'timestampedKeyValue' } & { approximateEntryCount(): number }>(
      'keep-state',
    );
    return store.approximateEntryCount();
  };
  return { driver, input, rows };
}

describe('incremental clean-up of expired state', () => {
  it('rows that nobody touches leave the store and its changelog, so many for each access', async () => {
    const { driver, input, rows } = setup({ size: 2 });
    for (let key = 0; key < 10; key++) await input.pipe(`key-${key}`, 'x', { timestamp: 1 });
    expect(await rows()).toBe(30);
    const changelog = driver.outputTopic('test-keep-state-changelog', { keySerde: serdes.bytes, valueSerde: serdes.bytes });
    changelog.readAll();
    await driver.advanceWallClock(1000);
    const left: number[] = [];
    for (let round = 0; round < 8; round++) {
      await input.pipe('busy', 'x', { timestamp: 1 });
      left.push(await rows());
    }
    // Few at a time, and in the end all but those in use.
    expect(left[0]).toBeGreaterThan(10);
    expect(left.at(-1)).toBe(3);
    expect(left).toEqual(left.toSorted((a, b) => b - a));
    expect(changelog.readAll().filter(({ value }) => value === null)).toHaveLength(30);
    await driver.close();
  });

  it('without it they stay until they are met', async () => {
    const { driver, input, rows } = setup();
    for (let key = 0; key < 10; key++) await input.pipe(`key-${key}`, 'x', { timestamp: 1 });
    await driver.advanceWallClock(1000);
    for (let round = 0; round < 10; round++) await input.pipe('busy', 'x', { timestamp: 1 });
    expect(await rows()).toBe(33);
    await driver.close();
  });

  it.each([
    [true, 0],
    [false, 15],
  ])('runForEveryRecord: %p', async (runForEveryRecord, left) => {
    const { driver, input, rows } = setup({ size: 5, runForEveryRecord });
    for (let key = 0; key < 5; key++) await input.pipe(`key-${key}`, 'x', { timestamp: 1 });
    await driver.advanceWallClock(1000);
    for (let round = 0; round < 4; round++) await input.pipe('nobody', '-', { timestamp: 1 });
    expect(await rows()).toBe(left);
    await driver.close();
  });

  it('live elements and entries of a row stay', async () => {
    const { driver, input, rows } = setup({ size: 10, runForEveryRecord: true });
    await input.pipe('k', 'old', { timestamp: 1 });
    await driver.advanceWallClock(600);
    await input.pipe('k', 'new', { timestamp: 1 });
    await driver.advanceWallClock(600);
    const changelog = driver.outputTopic('test-keep-state-changelog', { keySerde: serdes.bytes, valueSerde: serdes.bytes });
    changelog.readAll();
    await input.pipe('nobody', '-', { timestamp: 1 });
    expect(await rows()).toBe(3);
    // The list and the map were written without what is old; the value is new.
    const written = changelog.readAll();
    expect(written).toHaveLength(2);
    for (const { value } of written) {
      expect(Buffer.from(value ?? []).includes('old')).toBe(false);
      expect(Buffer.from(value ?? []).includes('new')).toBe(true);
    }
    await driver.close();
  });

  it('long lists and maps, which lie in several rows, leave whole', async () => {
    const { driver, input, rows } = setup({ size: 50, runForEveryRecord: true });
    for (let n = 0; n < 20; n++) {
      await input.pipe('k', `${n}${'.'.repeat(20_000)}`, { timestamp: 1 });
      await driver.advanceWallClock(20);
    }
    expect(await rows()).toBeGreaterThan(10);
    // The older half is gone: what is left is found, and goes on.
    await driver.advanceWallClock(800);
    await input.pipe('nobody', '-', { timestamp: 1 });
    await input.pipe('k', 'last', { timestamp: 1 });
    await driver.advanceWallClock(1000);
    for (let round = 0; round < 4; round++) await input.pipe('nobody', '-', { timestamp: 1 });
    expect(await rows()).toBe(0);
    await driver.close();
  });

  it.each([[0], [1.5], [-1]])('size %p is refused', (size) => {
    const declare = (): unknown => valueState('x', { ttl: { ttl: 1, cleanupIncrementally: { size } } });
    expect(declare).toThrow(MillraceError);
    expect(declare).toThrow(/cleanupIncrementally.size must be a whole number of at least 1/);
  });
});
