/** Global tables and stores: what their records go through, and what becomes of those that fail. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { Processor, ProcessorContext, Record } from '../../src/processors/processor.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { stores } from '../../src/stores/stores.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { strings } from './run-topology.js';

const prices = stores.keyValue({ name: 'prices', keySerde: serdes.string, valueSerde: serdes.double });

/** Keeps the highest price of each key; `boom` fails, once it has written. */
class Highest implements Processor<string, string> {
  declare private context: ProcessorContext<never, never>;
  declare private store: KeyValueStore<string, number>;

  constructor(private readonly onInit: (context: ProcessorContext<never, never>) => void = () => undefined) {}

  init(context: ProcessorContext<never, never>): void {
    this.context = context;
    this.store = context.store('prices');
    this.onInit(context);
  }

  process({ key, value }: Record<string, string>): void {
    if (value === 'boom') throw new RangeError(`boom at ${String(this.context.recordMetadata()?.offset)}`);
    this.store.put(key, Math.max(this.store.get(key) ?? 0, Number(value)));
  }
}

/** Reads the price of its record's key, and then does what it should not. */
class Meddle implements Processor<string, string, string, string> {
  declare private context: ProcessorContext<string, string>;
  declare private store: KeyValueStore<string, number>;

  constructor(private readonly write: (store: KeyValueStore<string, number>) => unknown) {}

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
    this.store = context.store('prices', 'keyValue');
  }

  async process({ key }: Record<string, string>): Promise<void> {
    const rows = [];
    for await (const row of this.store.range()) rows.push(row);
    await this.context.forward({ key, value: `${rows.join(' ')} in ${this.store.name}` });
    this.write(this.store);
  }
}

class Look implements Processor<string, string, string, string> {
  declare private context: ProcessorContext<string, string>;
  declare private store: KeyValueStore<string, number>;

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
    this.store = context.store('prices');
  }

  process({ key }: Record<string, string>): void | Promise<void> {
    return this.context.forward({ key, value: String(this.store.get(key)) });
  }
}

function open(config: TestDriverConfig = {}, onInit?: (context: ProcessorContext<never, never>) => void): TopologyTestDriver {
  const builder = new StreamsBuilder();
  builder.addGlobalStore(prices, 'price-changes', () => new Highest(onInit), { ...strings, name: 'prices-writer' });
  builder
    .stream('in', strings)
    .process(() => new Look(), strings)
    .to('out', strings);
  return new TopologyTestDriver(builder.build(), config);
}

describe('a global store', () => {
  it('is written by its processor and read by all others', async () => {
    await using driver = open();
    const changes = driver.inputTopic('price-changes', strings);
    for (const price of ['3', '7', '5']) await changes.pipe('tea', price);
    await driver.inputTopic('in', strings).pipe('tea', '?');
    expect(driver.outputTopic('out', strings).readAll()).toMatchObject([{ key: 'tea', value: '7' }]);
  });

  it.each<[string, (store: KeyValueStore<string, number>) => unknown]>([
    ['put', (store) => store.put('tea', 0)],
    ['putIfAbsent', (store) => store.putIfAbsent('tea', 0)],
    ['delete', (store) => store.delete('tea')],
  ])('is not written by others: %s', async (_how, write) => {
    const builder = new StreamsBuilder();
    builder.addGlobalStore(prices, 'price-changes', () => new Highest(), strings);
    builder
      .stream('in', strings)
      .process(() => new Meddle(write), { name: 'meddle', ...strings })
      .to('out');
    await using driver = new TopologyTestDriver(builder.build());
    await driver.inputTopic('price-changes', strings).pipe('tea', '3');
    await expect(driver.inputTopic('in', strings).pipe('tea', '?')).rejects.toMatchObject({
      code: 'MILL_STORE_READ_ONLY',
      details: { store: 'prices', node: 'meddle' },
    });
    expect((await driver.store<KeyValueStore<string, number>>('prices')).get('tea')).toBe(3);
  });

  it('stops on a record that its processor fails on, and names it', async () => {
    await using driver = open();
    await expect(driver.inputTopic('price-changes', strings).pipe('tea', 'boom')).rejects.toMatchObject({
      code: 'MILL_PROCESSING',
      details: { node: 'prices-writer', taskId: 'global', topic: 'price-changes', offset: 0 },
    });
  });

  it('goes on under "continue", and dead-letters under "deadLetter"', async () => {
    await using driver = open({ processingHandler: 'deadLetter', deadLetterTopic: 'dlq' });
    const changes = driver.inputTopic('price-changes', strings);
    await changes.pipe('tea', 'boom', { timestamp: 5 });
    await changes.pipe('tea', '2');
    const letters = driver.outputTopic('dlq', strings).readAll();
    expect(letters).toMatchObject([{ key: 'tea', value: 'boom', timestamp: 5 }]);
    expect(letters[0]!.headers.map(({ key, value }) => [key, String(value)])).toEqual(
      expect.arrayContaining([
        ['__streams.errors.topic', 'price-changes'],
        ['__streams.errors.exception', 'RangeError'],
        ['__millrace.errors.task', 'global'],
      ]),
    );
    expect((await driver.store<KeyValueStore<string, number>>('prices')).get('tea')).toBe(2);
  });

  it('is tried again in place', async () => {
    let failures = 0;
    const processingHandler = (): 'retry' | 'continue' => (failures++ < 2 ? 'retry' : 'continue');
    await using driver = open({ processingHandler });
    await driver.inputTopic('price-changes', strings).pipe('tea', 'boom');
    expect(failures).toBe(3);
  });

  it.each([
    [
      'timers',
      (context: ProcessorContext<never, never>) => void context.schedule({ interval: 1, time: 'stream' }, () => undefined),
      'MILL_STATE_INVALID',
    ],
    ['other stores', (context: ProcessorContext<never, never>) => void context.store('orders'), 'MILL_TOPOLOGY_STORE_NOT_CONNECTED'],
  ])('has no %s', async (_what, onInit, code) => {
    const driver = open({}, onInit);
    await expect(driver.inputTopic('in', strings).pipe('k', 'v')).rejects.toMatchObject({ code });
  });

  it('of a kind that is no table needs a processor', () => {
    const window = stores.window({ name: 'w', windowSize: 1, retention: 1 });
    const builder = new StreamsBuilder();
    expect(() => builder.addGlobalStore(window, 't', undefined as never)).toThrow(
      expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID' }),
    );
  });
});

describe('a global table', () => {
  const table = (config: TestDriverConfig = {}): TopologyTestDriver => {
    const builder = new StreamsBuilder();
    builder.globalTable('rows', { keySerde: serdes.string, valueSerde: serdes.json<number>(), materialized: { storeName: 'rows' } });
    builder.stream('in', strings).to('out');
    return new TopologyTestDriver(builder.build(), config);
  };

  it('stops on a record that does not decode, unless a handler says otherwise', async () => {
    await using failing = table();
    await expect(failing.inputTopic('rows', strings).pipe('k', 'no number')).rejects.toMatchObject({ code: 'MILL_DESERIALIZATION' });
    await using passing = table({ deserializationHandler: 'deadLetter', deadLetterTopic: 'dlq' });
    await passing.inputTopic('rows', strings).pipe('k', 'no number');
    expect(passing.outputTopic('dlq', strings).readAll()).toMatchObject([{ key: 'k', value: 'no number' }]);
  });

  it('counts records without a key', async () => {
    await using driver = table();
    await driver.inputTopic('rows', strings).pipe(null, '1');
    expect(Object.fromEntries(driver.droppedByReason)).toEqual({ 'null-key': 1 });
  });
});
