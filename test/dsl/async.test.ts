import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { AsyncCall, AsyncProcessor, KeyValueStore, ProcessorContext, Record } from '../../src/index.js';
import { keyValueStore } from '../../src/stores/store-builders.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import type { KStream } from '../../src/dsl/kstream.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };

/** A driver over a topology of one stream of texts from `in` to `out`. */
function driverOf(build: (stream: KStream<string, string>, builder: StreamsBuilder) => KStream<string, string>, config?: TestDriverConfig) {
  const builder = new StreamsBuilder();
  build(builder.stream('in', texts), builder).to('out', texts);
  const driver = new TopologyTestDriver(builder.build(), config);
  const input = driver.inputTopic('in', texts);
  const output = driver.outputTopic('out', texts);
  const lines = (): string[] => output.readAll().map(({ key, value, timestamp }) => `${key}=${value}@${timestamp}`);
  return { driver, input, output, lines };
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('mapValuesAsync', () => {
  it('sends results in the order of the records, with their times and headers, however long each call takes', async () => {
    const { driver, input, output } = driverOf((stream) =>
      stream.mapValuesAsync(async (value) => {
        await later(value === 'slow' ? 20 : 1);
        return value.toUpperCase();
      }),
    );
    await input.pipeAll([
      { key: 'a', value: 'slow', timestamp: 5, headers: [{ key: 'h', value: Buffer.from('1') }] },
      { key: 'b', value: 'fast', timestamp: 3 },
    ]);
    expect(output.readAll().map(({ key, value, timestamp, headers }) => [key, value, timestamp, headers.length])).toEqual([
      ['a', 'SLOW', 5, 1],
      ['b', 'FAST', 3, 0],
    ]);
    await driver.close();
  });

  it('runs calls side by side, `concurrency` at most', async () => {
    let running = 0;
    let most = 0;
    const { driver, input, lines } = driverOf((stream) =>
      stream.mapValuesAsync(
        async (value) => {
          most = Math.max(most, ++running);
          await later(2);
          running--;
          return value;
        },
        { concurrency: 3 },
      ),
    );
    await input.pipeAll(Array.from({ length: 20 }, (_, index) => ({ key: 'k', value: String(index), timestamp: index })));
    expect(lines()).toEqual(Array.from({ length: 20 }, (_, index) => `k=${index}@${index}`));
    expect(most).toBe(3);
    await driver.close();
  });

  it('takes a function that answers at once, and null values', async () => {
    const { driver, input, lines } = driverOf((stream) => stream.mapValuesAsync((value: string | null) => `${value ?? 'none'}!`));
    await input.pipe('a', 'x', { timestamp: 1 });
    await input.pipe('b', null, { timestamp: 2 });
    expect(lines()).toEqual(['a=x!@1', 'b=none!@2']);
    await driver.close();
  });

  it('tells the function where its record came from', async () => {
    const calls: Omit<AsyncCall, 'signal' | 'headers'>[] = [];
    const { driver, input } = driverOf((stream) =>
      stream.mapValuesAsync(async (value, _key, { topic, partition, offset, timestamp, attempt }) => {
        calls.push({ topic, partition, offset, timestamp, attempt });
        return value;
      }),
    );
    await input.pipe('a', 'x', { timestamp: 7 });
    expect(calls).toEqual([{ topic: 'in', partition: 0, offset: 0, timestamp: 7, attempt: 1 }]);
    await driver.close();
  });
});

describe('the other asynchronous operators', () => {
  it('mapAsync gives a new key and value', async () => {
    const { driver, input, lines } = driverOf((stream) => stream.mapAsync(async (value, key) => [value, key] as const, texts));
    await input.pipe('k', 'v', { timestamp: 1 });
    expect(lines()).toEqual(['v=k@1']);
    await driver.close();
  });

  it('flatMapValuesAsync gives any number of values', async () => {
    const { driver, input, lines } = driverOf((stream) => stream.flatMapValuesAsync(async (value) => value.split(' ').filter(Boolean)));
    await input.pipe('k', 'a b', { timestamp: 1 });
    await input.pipe('k', '', { timestamp: 2 });
    expect(lines()).toEqual(['k=a@1', 'k=b@1']);
    await driver.close();
  });

  it('flatMapAsync gives any number of records', async () => {
    const { driver, input, lines } = driverOf((stream) =>
      stream.flatMapAsync(async (value, key) => value.split(',').map((letter) => [letter, key] as const), texts),
    );
    await input.pipe('k', 'a,b', { timestamp: 1 });
    expect(lines()).toEqual(['a=k@1', 'b=k@1']);
    await driver.close();
  });

  it('a result is repartitioned before it is grouped when its key is new', async () => {
    const { driver, input, lines } = driverOf((stream) =>
      stream
        .mapAsync(async (value, key) => [value, key] as const, texts)
        .groupByKey()
        .count()
        .toStream()
        .mapValues(String),
    );
    await input.pipe('1', 'x', { timestamp: 1 });
    await input.pipe('2', 'x', { timestamp: 2 });
    expect(lines()).toEqual(['x=1@1', 'x=2@2']);
    await driver.close();
  });
});

describe('processAsync', () => {
  /** Adds what the call gave to a total by key: wrong as soon as two steps of a key overlap. */
  class Total implements AsyncProcessor<string, string, number, string, string> {
    private context!: ProcessorContext<string, string>;
    private totals!: KeyValueStore<string, number>;

    init(context: ProcessorContext<string, string>): void {
      this.context = context;
      this.totals = context.store('totals');
    }

    async call(record: Record<string, string>): Promise<number> {
      const before = this.totals.get(record.key) ?? 0;
      await later(Math.random() * 3);
      return before + Number(record.value);
    }

    async process(record: Record<string, string>, total: number): Promise<void> {
      this.totals.put(record.key, total);
      await this.context.forward({ key: record.key, value: String(total) });
    }
  }

  it('per key, a call sees what the record before it has left in the stores', async () => {
    const { driver, input, lines } = driverOf((stream, builder) => {
      builder.addStateStore(keyValueStore({ name: 'totals', keySerde: serdes.string, valueSerde: serdes.double }));
      return stream.processAsync(() => new Total(), { name: 'total', stores: ['totals'], order: 'perKey', ...texts });
    });
    const records = Array.from({ length: 60 }, (_, index) => ({ key: `k${index % 3}`, value: '1', timestamp: index }));
    await input.pipeAll(records);
    const last = new Map(lines().map((line) => line.split(/[=@]/).slice(0, 2) as [string, string]));
    expect([...last].sort()).toEqual([
      ['k0', '20'],
      ['k1', '20'],
      ['k2', '20'],
    ]);
    await driver.close();
  });

  it('refuses a supplier that gives the same object twice, and forward outside of process', async () => {
    const one = new Total();
    expect(() => driverOf((stream) => stream.processAsync(() => one, { name: 'total' }))).toThrow(
      expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID' }),
    );
    class Early implements AsyncProcessor<string, string, string, string, string> {
      private context!: ProcessorContext<string, string>;
      init(context: ProcessorContext<string, string>): void {
        this.context = context;
      }
      call(record: Record<string, string>): string {
        void this.context.forward({ key: record.key, value: 'early' });
        return '';
      }
      process(): void {
        // Nothing.
      }
    }
    const { driver, input } = driverOf((stream) => stream.processAsync(() => new Early(), { name: 'early', ...texts }));
    await expect(input.pipe('a', 'x')).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
    await driver.close();
  });

  it('refuses forward in a call also while process of another record is awaited', async () => {
    const refused: unknown[] = [];
    let processes = (): void => undefined;
    const processing = new Promise<void>((resolve) => (processes = resolve));
    let refusal = (): void => undefined;
    const refusing = new Promise<void>((resolve) => (refusal = resolve));
    class Leaking implements AsyncProcessor<string, string, string, string, string> {
      private context!: ProcessorContext<string, string>;
      init(context: ProcessorContext<string, string>): void {
        this.context = context;
      }
      async call({ key, value }: Record<string, string>): Promise<string> {
        if (value !== 'leaks') return value;
        await processing;
        try {
          await this.context.forward({ key, value: 'leaked' });
        } catch (error) {
          refused.push(error);
        }
        refusal();
        return value;
      }
      async process(record: Record<string, string>, value: string): Promise<void> {
        processes();
        await refusing;
        await this.context.forward({ ...record, value });
      }
    }
    const { driver, input, lines } = driverOf((stream) => stream.processAsync(() => new Leaking(), { name: 'leaking', ...texts }));
    await input.pipeAll([
      { key: 'a', value: 'one', timestamp: 1 },
      { key: 'b', value: 'leaks', timestamp: 2 },
    ]);
    expect(refused).toMatchObject([{ code: 'MILL_STATE_INVALID', message: expect.stringContaining('in call') }]);
    expect(lines()).toEqual(['a=one@1', 'b=leaks@2']);
    await driver.close();
  });
});

describe('calls that fail', () => {
  const failing = (times: number) => {
    let calls = 0;
    return {
      calls: () => calls,
      fn: async (value: string) => {
        if (value !== 'bad') return value;
        calls++;
        if (calls <= times) throw new Error(`no ${calls}`);
        return `good after ${calls}`;
      },
    };
  };

  it('are repeated as `retry` says', async () => {
    const { fn, calls } = failing(2);
    const { driver, input, lines } = driverOf((stream) => stream.mapValuesAsync(fn, { retry: { attempts: 3, backoff: 5 } }));
    await input.pipeAll([
      { key: 'a', value: 'bad', timestamp: 1 },
      { key: 'b', value: 'ok', timestamp: 2 },
    ]);
    expect(lines()).toEqual(['a=good after 3@1', 'b=ok@2']);
    expect(calls()).toBe(3);
    await driver.close();
  });

  it('are not repeated for errors that `when` does not name', async () => {
    const { fn, calls } = failing(9);
    const { driver, input, lines } = driverOf(
      (stream) => stream.mapValuesAsync(fn, { retry: { attempts: 5, when: (error) => error.message !== 'no 2' } }),
      { processingHandler: 'continue' },
    );
    await input.pipe('a', 'bad', { timestamp: 1 });
    expect(lines()).toEqual([]);
    expect(calls()).toBe(2);
    await driver.close();
  });

  it('fail the task for good, naming node, topic and offset, when the handler says so', async () => {
    const { driver, input } = driverOf((stream) => stream.mapValuesAsync(failing(9).fn, { name: 'risky' }));
    await expect(input.pipe('a', 'bad', { timestamp: 1 })).rejects.toMatchObject({
      code: 'MILL_PROCESSING',
      message: expect.stringContaining('risky failed on the record of in-0 at offset 0'),
    });
    await driver.close();
  });

  it('leave the record as it was read in the dead-letter topic', async () => {
    const { driver, input, lines } = driverOf((stream) => stream.mapValues((value) => value.trim()).mapValuesAsync(failing(9).fn, texts), {
      processingHandler: 'deadLetter',
      deadLetterTopic: 'dead',
      defaultKeySerde: serdes.string,
      defaultValueSerde: serdes.string,
    });
    const dead = driver.outputTopic('dead', texts);
    await input.pipeAll([
      { key: 'a', value: ' bad ', timestamp: 1 },
      { key: 'b', value: ' ok ', timestamp: 2 },
    ]);
    expect(lines()).toEqual(['b=ok@2']);
    const [letter] = dead.readAll();
    expect([letter?.key, letter?.value, letter?.timestamp]).toEqual(['a', ' bad ', 1]);
    const headers = new Map(letter?.headers.map(({ key, value }) => [key, String(value)]));
    expect(headers.get('__streams.errors.offset')).toBe('0');
    expect(headers.get('__streams.errors.message')).toBe('no 1');
    await driver.close();
  });

  it('end after `timeout`, with a signal that aborts', async () => {
    let reason: unknown = null;
    const { driver, input, lines } = driverOf(
      (stream) =>
        stream.mapValuesAsync(
          (value, _key, { signal, attempt }) => {
            if (value !== 'stuck' || attempt === 2) return value;
            signal.addEventListener('abort', () => {
              reason = signal.reason;
            });
            return new Promise<string>(() => undefined);
          },
          { timeout: 10, retry: { attempts: 2, when: ({ name }) => name === 'TimeoutError' } },
        ),
      {},
    );
    await input.pipe('a', 'stuck', { timestamp: 1 });
    expect(lines()).toEqual(['a=stuck@1']);
    expect(reason).toMatchObject({ name: 'TimeoutError', message: 'the call did not end within 10 ms' });
    await driver.close();
  });
});

describe('options', () => {
  it('that are out of range are all named', () => {
    const options = { concurrency: 0, timeout: -1, order: 'sideways' as never, retry: { attempts: 1.5 }, maxBufferedBytes: 0 };
    expect(() => driverOf((stream) => stream.mapValuesAsync((value) => value, { name: 'n', ...options }))).toThrow(
      expect.objectContaining({
        code: 'MILL_TOPOLOGY_INVALID',
        details: {
          node: 'n',
          faults: [
            'concurrency must be a whole number of at least 1',
            'maxBufferedRecords must be a whole number of at least 1',
            'maxBufferedBytes must be a whole number of at least 1',
            'timeout must be a whole number of at least 1',
            'retry.attempts must be a whole number of at least 1',
            'order must be one of arrival, perKey, unordered',
          ],
        },
      }),
    );
  });

  it('name the store of unfinished records', () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', texts)
      .mapValuesAsync((value) => value, { name: 'enrich' })
      .to('out', texts);
    expect([...builder.build().stores.keys()]).toEqual(['enrich-unfinished']);
  });
});
