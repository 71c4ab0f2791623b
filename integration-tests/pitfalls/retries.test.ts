/** What the handlers answer, on a broker: tries in place and from the last commit, and the dead letters of global tables. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes, stores, StreamsBuilder } from '../../src/index.js';
import type { FailedRecord, KeyValueStore, Processor, ProcessorContext, Record as KeyedRecord, Serde } from '../../src/index.js';
import { until } from '../faults/until.js';
import { Scenario, text } from './scenario.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const retry = { attempts: 5, backoff: 10, maxBackoff: 20 };

let scenario: Scenario;
afterEach(() => scenario.end());

/** Fails on what begins with `bad`, so many times for each. */
class Failures {
  readonly calls = new Map<string, number>();

  constructor(private readonly times: number) {}

  check(value: string): void {
    if (!value.startsWith('bad')) return;
    const call = (this.calls.get(value) ?? 0) + 1;
    this.calls.set(value, call);
    if (call <= this.times) throw new Error(`${value}, call ${call}`);
  }
}

/** Texts, with failures on one side. */
function failing(on: 'serialize' | 'deserialize', failures: Failures): Serde<string> {
  return {
    name: `failing to ${on}`,
    serialize: (value) => {
      if (on === 'serialize') failures.check(value);
      return Buffer.from(value);
    },
    deserialize: (bytes) => {
      const value = Buffer.from(bytes).toString();
      if (on === 'deserialize') failures.check(value);
      return value;
    },
  };
}

/** Counts the records of each key, and fails behind its write. */
class Counting implements Processor<string, string, string, string> {
  declare private context: ProcessorContext<string, string>;
  declare private counts: KeyValueStore<string, number>;

  constructor(private readonly failures: Failures) {}

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
    this.counts = context.store('counts', 'keyValue');
  }

  process({ key, value }: KeyedRecord<string, string>) {
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.put(key, count);
    this.failures.check(value);
    return this.context.forward({ key, value: `${value} is ${count}` });
  }
}

const counts = stores.keyValue({ name: 'counts', keySerde: serdes.string, valueSerde: serdes.int32 });

describe('retry, on a broker', () => {
  it('in reading, processing with state and writing: each record comes through once, and counts once', async () => {
    scenario = await Scenario.begin('retry');
    const [input, output] = [await scenario.topic('in', 2), await scenario.topic('out')];
    const [read, processed, written] = [new Failures(2), new Failures(2), new Failures(2)];
    const builder = new StreamsBuilder();
    builder
      .stream(input, { keySerde: serdes.string, valueSerde: failing('deserialize', read) })
      .process(() => new Counting(processed), { name: 'count', stores: [counts], ...strings })
      .to(output, { keySerde: serdes.string, valueSerde: failing('serialize', written) });
    const handlers = { deserializationHandler: 'retry', processingHandler: 'retry', productionHandler: 'retry' } as const;
    const app = await scenario.running(builder.build(), { ...handlers, retry });
    const values = Array.from({ length: 40 }, (_, index) => (index % 13 === 5 ? `bad${index}` : `good${index}`));
    await scenario.write(
      input,
      values.map((value, index) => ({ key: `k${index % 4}`, value })),
    );
    const records = await scenario.read(output, values.length);
    const seen = new Map<string, number>();
    const expected = values.map((value, index) => {
      const key = `k${index % 4}`;
      const count = (seen.get(key) ?? 0) + 1;
      seen.set(key, count);
      return `${key}=${value} is ${count}`;
    });
    expect(records.map(({ key, value }) => `${key}=${text(value)}`).sort()).toEqual(expected.sort());
    // More than three times where another record took the thread back.
    for (const { calls } of [read, processed, written]) {
      expect(calls.size).toBe(3);
      expect(Math.min(...calls.values())).toBeGreaterThanOrEqual(3);
    }
    expect(app.state).toBe('running');
  });

  it('that does not help: one dead letter with the original bytes, and nothing is lost around it', async () => {
    scenario = await Scenario.begin('given-up');
    const [input, output, letters] = [await scenario.topic('in'), await scenario.topic('out'), await scenario.topic('dlq')];
    const failures = new Failures(Infinity);
    const attempts: number[] = [];
    const builder = new StreamsBuilder();
    builder
      .stream(input, strings)
      .process(() => new Counting(failures), { name: 'count', stores: [counts], ...strings })
      .to(output, strings);
    await scenario.running(builder.build(), {
      processingHandler: (_error: Error, { attempt }: FailedRecord) => {
        attempts.push(attempt);
        return 'retry';
      },
      retry: { ...retry, attempts: 2, afterwards: 'deadLetter' },
      deadLetterTopic: letters,
    });
    await scenario.write(
      input,
      ['a', 'b', 'bad', 'c', 'd'].map((value) => ({ key: 'k', value })),
    );
    const records = await scenario.read(output, 4);
    expect(records.map(({ value }) => text(value))).toEqual(['a is 1', 'b is 2', 'c is 4', 'd is 5']);
    const [letter, ...more] = await scenario.read(letters, 1);
    expect([text(letter?.value ?? null), letter?.headers.get('__streams.errors.offset'), more]).toEqual(['bad', '2', []]);
    expect(attempts.slice(0, 3)).toEqual([1, 2, 3]);
  });
});

describe('a global store, on a broker', () => {
  it('dead-letters what can’t be read, and what its processor fails on, at each start, and has all other rows', async () => {
    scenario = await Scenario.begin('global');
    const [prices, input, output] = [await scenario.topic('prices'), await scenario.topic('in'), await scenario.topic('out')];
    const letters = await scenario.topic('dlq');
    const unreadable = new Failures(Infinity);
    const unwelcome = new Failures(Infinity);
    class Rows implements Processor<string, string> {
      declare private rows: KeyValueStore<string, string>;
      init(context: ProcessorContext<never, never>): void {
        this.rows = context.store('prices', 'keyValue');
      }
      process({ key, value }: KeyedRecord<string, string>): void {
        if (value.startsWith('bad row')) unwelcome.check(value);
        this.rows.put(key, value);
      }
    }
    class Priced implements Processor<string, string, string, string> {
      declare private context: ProcessorContext<string, string>;
      init(context: ProcessorContext<string, string>): void {
        this.context = context;
      }
      process({ key, value }: KeyedRecord<string, string>) {
        const price = this.context.store<KeyValueStore<string, string>>('prices').get(value);
        return this.context.forward({ key, value: price ?? 'none' });
      }
    }
    const readable: Serde<string> = {
      ...serdes.string,
      name: 'readable',
      encode: undefined,
      decode: undefined,
      deserialize: (bytes) => {
        const value = Buffer.from(bytes).toString();
        if (value.startsWith('bad bytes')) unreadable.check(value);
        return value;
      },
    };
    const builder = new StreamsBuilder();
    builder.addGlobalStore(stores.keyValue({ name: 'prices', ...strings }), prices, () => new Rows(), {
      keySerde: serdes.string,
      valueSerde: readable,
    });
    builder
      .stream(input, strings)
      .process(() => new Priced(), { name: 'priced', ...strings })
      .to(output, strings);
    await scenario.write(prices, [
      { key: 'apple', value: '1' },
      { key: 'pear', value: 'bad bytes' },
      { key: 'plum', value: 'bad row' },
      { key: 'fig', value: '4' },
    ]);
    const config = {
      deserializationHandler: 'deadLetter',
      processingHandler: 'retry',
      retry: { ...retry, attempts: 2, afterwards: 'deadLetter' },
      deadLetterTopic: letters,
    } as const;
    const topology = builder.build();
    const app = await scenario.running(topology, config);
    await scenario.write(
      input,
      ['apple', 'pear', 'plum', 'fig'].map((value) => ({ key: 'k', value })),
    );
    const records = await scenario.read(output, 4);
    expect(records.map(({ value }) => text(value))).toEqual(['1', 'none', 'none', '4']);
    expect(unwelcome.calls).toEqual(new Map([['bad row', 3]]));
    const lettersOf = (count: number) =>
      scenario.read(letters, count).then((all) => all.map(({ value, headers }) => [text(value), headers.get('__streams.errors.offset')]));
    const once = [
      ['bad bytes', '1'],
      ['bad row', '2'],
    ];
    expect(await lettersOf(2)).toEqual(once);
    expect(app.metrics().globalTables).toMatchObject({ deadLetters: 2 });
    // A row that turns bad under the running app takes the old one's place nowhere.
    await scenario.write(prices, [{ key: 'fig', value: 'bad row again' }]);
    await until('its dead letter is there', async () => (await lettersOf(3)).length === 3);
    expect(app.state).toBe('running');
    await app.close();
    await scenario.running(topology, config);
    expect(await lettersOf(6)).toEqual([...once, ['bad row again', '4'], ...once, ['bad row again', '4']]);
  });
});
