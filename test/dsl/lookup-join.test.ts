import { describe, expect, it } from '@jest/globals';
import type { LookupJoinOptions } from '../../src/dsl/async-options.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { MillraceError } from '../../src/errors.js';
import type { LookupCall } from '../../src/processors/lookup/lookup-work.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };
const later = (ms = 1): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Options = Partial<LookupJoinOptions<string, string, string, string, string>>;
type Answer = (key: string, call: LookupCall) => Promise<string | null | undefined> | string | null | undefined;

/** Values are `<key to look up>` or `-` for none; the answer to a question is its capital, unless it begins with `?`. */
function setup(
  options: Options = {},
  { left = false, config, answer }: { left?: boolean; config?: TestDriverConfig; answer?: Answer } = {},
) {
  const asked: string[] = [];
  const lookup = async (key: string, call: LookupCall): Promise<string | null | undefined> => {
    asked.push(key);
    await later();
    if (answer !== undefined) return answer(key, call);
    return key.startsWith('?') ? null : key.toUpperCase();
  };
  const builder = new StreamsBuilder();
  const keyOf = (value: string): string | null => (value === '-' ? null : value);
  const stream = builder.stream('in', texts);
  const joined = left
    ? stream.leftLookupJoin(lookup, (value, row) => `${value}:${row ?? 'none'}`, { name: 'join', keyOf, ...options })
    : stream.lookupJoin(lookup, (value, row) => `${value}:${row}`, { name: 'join', keyOf, ...options });
  joined.to('out', texts);
  const driver = new TopologyTestDriver(builder.build(), config);
  const input = driver.inputTopic('in', texts);
  const output = driver.outputTopic('out', texts);
  const results = (): string[] => output.readAll().map(({ value }) => String(value));
  const pipe = async (...values: string[]): Promise<string[]> => {
    await input.pipeAll(values.map((value, timestamp) => ({ key: value, value, timestamp })));
    return results();
  };
  return { driver, pipe, asked, output };
}

describe('lookupJoin', () => {
  it('joins each record with the row of its key, in order, with its time; records without a row or without a key are dropped', async () => {
    const { driver, pipe, asked } = setup();
    expect(await pipe('b', '?', 'a', '-')).toEqual(['b:B', 'a:A']);
    expect(asked).toEqual(['b', '?', 'a']);
    expect(Object.fromEntries(driver.droppedByReason)).toEqual({ 'null-join-key': 1 });
    await driver.close();
  });

  it('leftLookupJoin joins them with null', async () => {
    const { driver, pipe } = setup({}, { left: true });
    expect(await pipe('b', '?', '-')).toEqual(['b:B', '?:none', '-:none']);
    await driver.close();
  });

  it('undefined is no row, as null is', async () => {
    const { driver, pipe } = setup({ cache: { ttl: 1000 } }, { left: true, answer: () => undefined });
    expect(await pipe('a', 'a')).toEqual(['a:none', 'a:none']);
    await driver.close();
  });

  it.each(['arrival', 'perKey', 'unordered'] as const)('asks once for a key that is being asked for (%s)', async (order) => {
    const { driver, pipe, asked } = setup({ order, concurrency: 2 });
    expect((await pipe('a', 'b', 'a', 'c', 'a', 'b')).toSorted()).toEqual(['a:A', 'a:A', 'a:A', 'b:B', 'b:B', 'c:C']);
    expect(asked.length).toBeLessThan(order === 'perKey' ? 7 : 4);
    await driver.close();
  });

  it('those who share a call do not take the places of others', async () => {
    const { driver, pipe, asked } = setup({ concurrency: 2 }, { answer: async (key) => (await later(key === 'a' ? 20 : 1), key) });
    await pipe('a', 'a', 'a', 'a', 'b', 'c');
    expect(asked).toEqual(['a', 'b', 'c']);
    await driver.close();
  });

  it('keyOf may give objects, which are one key when their content is the same', async () => {
    const builder = new StreamsBuilder();
    let calls = 0;
    builder
      .stream('in', texts)
      .lookupJoin(
        async ({ id }: { id: string }) => (calls++, id.length),
        (value, length) => `${value}:${length}`,
        { keyOf: (value) => ({ id: value }), cache: { ttl: 1000 } },
      )
      .to('out', texts);
    const driver = new TopologyTestDriver(builder.build());
    await driver.inputTopic('in', texts).pipeAll(['ab', 'ab', 'c'].map((value) => ({ key: 'k', value, timestamp: 1 })));
    expect(
      driver
        .outputTopic('out', texts)
        .readAll()
        .map(({ value }) => value),
    ).toEqual(['ab:2', 'ab:2', 'c:1']);
    expect(calls).toBe(2);
    await driver.close();
  });

  it('a joiner may answer with a promise', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', texts)
      .lookupJoin(
        (key: string) => key,
        async (value, row) => `${value}${row}`,
        { keyOf: (value) => value },
      )
      .to('out', texts);
    const driver = new TopologyTestDriver(builder.build());
    await driver.inputTopic('in', texts).pipe('k', 'a');
    expect(
      driver
        .outputTopic('out', texts)
        .readAll()
        .map(({ value }) => value),
    ).toEqual(['aa']);
    await driver.close();
  });
});

describe('the cache of a lookup join', () => {
  it('a row is asked for again when its time is over, not before', async () => {
    const { driver, pipe, asked } = setup({ cache: { ttl: 1000 } });
    await pipe('a');
    await driver.advanceWallClock(999);
    expect(await pipe('a')).toEqual(['a:A']);
    expect(asked).toEqual(['a']);
    await driver.advanceWallClock(1);
    expect(await pipe('a')).toEqual(['a:A']);
    expect(asked).toEqual(['a', 'a']);
    await driver.close();
  });

  it('that there is no row is kept too, for a time of its own', async () => {
    const { driver, pipe, asked } = setup({ cache: { ttl: 1000, missingTtl: 100 } }, { left: true });
    expect(await pipe('?')).toEqual(['?:none']);
    await driver.advanceWallClock(99);
    expect(await pipe('?')).toEqual(['?:none']);
    expect(asked).toEqual(['?']);
    await driver.advanceWallClock(1);
    await pipe('?');
    expect(asked).toEqual(['?', '?']);
    await driver.close();
  });

  it('missingTtl: 0 asks each time for what is not there', async () => {
    const { driver, pipe, asked } = setup({ cache: { ttl: 1000, missingTtl: 0 } });
    await pipe('?');
    await pipe('?');
    expect(asked).toEqual(['?', '?']);
    await driver.close();
  });

  it('expired rows that nobody asks for leave the store and its changelog', async () => {
    const { driver, pipe } = setup({ cache: { ttl: 1000 } });
    await pipe('a', 'b');
    const changelog = driver.outputTopic('test-join-cache-changelog', {
      keySerde: serdes.json<string>(),
      valueSerde: serdes.bytes,
    });
    expect(changelog.readAll().map(({ key, value }) => [key, value === null])).toEqual([
      ['a', false],
      ['b', false],
    ]);
    await driver.advanceWallClock(500);
    await pipe('c');
    await driver.advanceWallClock(500);
    expect(changelog.readAll().map(({ key, value }) => [key, value === null])).toEqual([
      ['c', false],
      ['a', true],
      ['b', true],
    ]);
    await driver.advanceWallClock(1000);
    expect(changelog.readAll().map(({ key, value }) => [key, value === null])).toEqual([['c', true]]);
    await driver.close();
  });

  it('holds `maxRows` keys: the oldest leave', async () => {
    const { driver, pipe, asked } = setup({ cache: { ttl: 1000, maxRows: 2 } }, { left: true });
    await pipe('?');
    await driver.advanceWallClock(1);
    await pipe('a', 'b');
    await pipe('a', 'b', '?');
    expect(asked).toEqual(['?', 'a', 'b', '?']);
    await driver.close();
  });

  it('rows without an end of their time stay until others push them out', async () => {
    const { driver, pipe, asked } = setup({ cache: { ttl: Infinity, maxRows: 2 } });
    await pipe('a', '?');
    await driver.advanceWallClock(1e12);
    expect(await pipe('a', '?')).toEqual(['a:A']);
    expect(asked).toEqual(['a', '?']);
    await pipe('b');
    await pipe('a');
    expect(asked).toEqual(['a', '?', 'b', 'a']);
    await driver.close();
  });

  it('an error is not kept', async () => {
    let attempts = 0;
    const { driver, pipe } = setup(
      { cache: { ttl: 1000 } },
      {
        config: { processingHandler: () => 'continue' },
        answer: (key) => {
          if (++attempts === 1) throw new Error('busy');
          return key;
        },
      },
    );
    expect(await pipe('a')).toEqual([]);
    expect(await pipe('a')).toEqual(['a:a']);
    await driver.close();
  });
});

describe('the rows of a lookup join', () => {
  /** All records ask for one row; `show` makes text of it. */
  async function joined<VL>(
    row: VL,
    show: (row: VL) => string,
    { retry = false, valueSerde }: { retry?: boolean; valueSerde?: Serde<VL> } = {},
  ) {
    let calls = 0;
    const builder = new StreamsBuilder();
    builder
      .stream('in', texts)
      .lookupJoin(
        async () => (calls++, await later(), row),
        (value, found) => `${value}:${show(found)}`,
        {
          name: 'join',
          keyOf: () => 'k',
          cache: { ttl: 1e9, ...(valueSerde === undefined ? {} : { valueSerde }) },
          ...(retry ? { retry: { attempts: 3, backoff: 1 } } : {}),
        },
      )
      .to('out', texts);
    const driver = new TopologyTestDriver(builder.build(), { processingHandler: () => 'continue' });
    const input = driver.inputTopic('in', texts);
    const pipe = async (...values: string[]): Promise<void> =>
      input.pipeAll(values.map((value, timestamp) => ({ key: value, value, timestamp })));
    const failure = await pipe('a', 'b')
      .then(() => pipe('c', 'd'))
      .then(
        () => null,
        (error: unknown) => error,
      );
    const out = driver.outputTopic('out', texts).readAll();
    return { failure, calls, driver, out: out.map(({ value }) => value) };
  }

  it.each<[string, unknown, RegExp]>([
    [
      'a Map',
      new Map([['n', 1]]),
      /join: the row found for string k can't be kept in the cache: serde json makes a plain object of an instance of Map/,
    ],
    ['a Date', { at: new Date(0) }, /makes a string of an instance of Date \(at at\)/],
    ['NaN', NaN, /makes null of NaN/],
    ['a bigint', { n: 1n }, /can't be kept in the cache: Serde json cannot serialise/],
  ])(
    'a cache whose serde does not give back what it was given says so before the first record has it (%s)',
    async (_what, row, message) => {
      const { failure, calls, driver, out } = await joined<unknown>(row, String, { retry: true });
      expect(failure).toMatchObject({ code: 'MILL_SERDE' });
      expect(String(failure)).toMatch(message);
      expect(out).toEqual([]);
      expect(calls).toBe(1);
      await driver.close().catch(() => undefined);
    },
  );

  it('a serde that carries them is all they need', async () => {
    const maps: Serde<Map<string, number>> = {
      name: 'map',
      serialize: (map) => Buffer.from(JSON.stringify([...map])),
      deserialize: (bytes) => new Map(JSON.parse(bytes.toString()) as [string, number][]),
    };
    const { driver, out } = await joined(new Map([['n', 1]]), (row) => String(row.get('n')), { valueSerde: maps });
    expect(out).toEqual(['a:1', 'b:1', 'c:1', 'd:1']);
    await driver.close();
  });

  it('what a joiner changes in its row no other record sees, neither one that shares the call nor one that finds it in the cache', async () => {
    const { driver, out } = await joined({ n: 0 }, (row) => String(++row.n));
    expect(out).toEqual(['a:1', 'b:1', 'c:1', 'd:1']);
    await driver.close();
  });

  it.each([false, true])('records without a value are dropped, as in joins with a table (left join: %p)', async (left) => {
    const { driver, pipe, asked } = setup({ keyOf: (value) => value.toLowerCase() }, { left });
    expect(await pipe('a', null as never, 'b')).toEqual(['a:A', 'b:B']);
    expect(asked).toEqual(['a', 'b']);
    expect(Object.fromEntries(driver.droppedByReason)).toEqual({ 'null-value': 1 });
    await driver.close();
  });
});

describe('failures of a lookup join', () => {
  it('retry asks again; all records of the call go on with its result', async () => {
    const attempts: number[] = [];
    const { driver, pipe } = setup(
      { retry: { attempts: 3, backoff: 1 } },
      {
        answer: (key, { attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('busy');
          return key;
        },
      },
    );
    expect(await pipe('a', 'a')).toEqual(['a:a', 'a:a']);
    expect(attempts).toEqual([1, 2, 3]);
    await driver.close();
  });

  it('every record of a call that failed for good goes to the processing handler, in its turn', async () => {
    const failed: string[] = [];
    const { driver, pipe } = setup(
      {},
      {
        config: { processingHandler: (_error, { key }) => (failed.push(String(key)), 'continue') },
        answer: (key) => {
          if (key === 'x') throw new Error('gone');
          return key;
        },
      },
    );
    expect(await pipe('a', 'x', 'x', 'b')).toEqual(['a:a', 'b:b']);
    expect(failed).toEqual(['x', 'x']);
    await driver.close();
  });

  it('a call that takes too long fails, and its signal aborts', async () => {
    const reasons: string[] = [];
    const { driver, pipe } = setup(
      { timeout: 5 },
      {
        config: { processingHandler: () => 'continue' },
        answer: (_key, { signal }) =>
          new Promise((resolve) =>
            signal.addEventListener('abort', () => {
              reasons.push((signal.reason as Error).name);
              resolve('late');
            }),
          ),
      },
    );
    expect(await pipe('a')).toEqual([]);
    expect(reasons).toEqual(['TimeoutError']);
    await driver.close();
  });

  it('retryMissing waits for a row that comes a little late, whatever `when` says of errors, and takes none for an answer at the last attempt', async () => {
    const { driver, pipe, asked } = setup(
      { retry: { attempts: 3, backoff: 1, when: () => false }, retryMissing: true },
      { left: true, answer: (key, { attempt }) => (key === 'late' && attempt === 2 ? 'there' : null) },
    );
    expect(await pipe('late', 'never')).toEqual(['late:there', 'never:none']);
    expect(asked.filter((key) => key === 'late')).toHaveLength(2);
    expect(asked.filter((key) => key === 'never')).toHaveLength(3);
    await driver.close();
  });

  it('an error of keyOf belongs to its record', async () => {
    const failed: string[] = [];
    const { driver, pipe } = setup(
      {
        keyOf: (value) => {
          if (value === 'x') throw new Error('no key');
          return value;
        },
      },
      { config: { processingHandler: (error) => (failed.push(String(error)), 'continue') } },
    );
    expect(await pipe('a', 'x', 'b')).toEqual(['a:A', 'b:B']);
    expect(failed).toEqual([expect.stringContaining('no key')]);
    await driver.close();
  });

  it.each([
    [undefined, /keyOf gave undefined/],
    [Promise.resolve('a'), /keyOf gave a promise/],
  ])('keyOf may not give %p', async (key, message) => {
    const failed: string[] = [];
    const { driver, pipe } = setup(
      { keyOf: () => key as never },
      { config: { processingHandler: (error) => (failed.push(String(error)), 'continue') } },
    );
    expect(await pipe('a')).toEqual([]);
    expect(failed).toEqual([expect.stringMatching(message)]);
    await driver.close();
  });
});

describe('options of a lookup join', () => {
  const stream = () => new StreamsBuilder().stream('in', texts);
  const keyOf = (value: string): string => value;
  const join = (options: object): unknown =>
    stream().lookupJoin(
      async (key: string) => key,
      (value) => value,
      options as never,
    );

  it.each<[string, object | undefined, RegExp]>([
    ['no options', undefined, /lookupJoin: the options must be an object/],
    ['no keyOf', {}, /lookupJoin: keyOf must be a function/],
    ['a misspelt option', { keyOf, chache: { ttl: 1 } }, /no option chache; did you mean cache/],
    ['a cache without a ttl', { keyOf, cache: {} }, /cache.ttl must be a whole number of at least 1/],
    ['a cache of no rows', { keyOf, cache: { ttl: 1, maxRows: 0 } }, /cache.maxRows/],
    ['a negative missingTtl', { keyOf, cache: { ttl: 1, missingTtl: -1 } }, /cache.missingTtl/],
    ['a wrong order', { keyOf, order: 'any' }, /order must be one of/],
    ['retryMissing without retry', { keyOf, retryMissing: true }, /retryMissing needs retry/],
  ])('refuses %s', (_, options, message) => {
    expect(() => join(options as object)).toThrow(MillraceError);
    expect(() => join(options as object)).toThrow(message);
  });

  it('refuses what is no function', () => {
    expect(() => stream().lookupJoin('x' as never, (value) => value, { keyOf })).toThrow(/lookupJoin: the lookup must be a function/);
    expect(() => stream().leftLookupJoin(async () => 'x', 'x' as never, { keyOf })).toThrow(
      /leftLookupJoin: the joiner must be a function/,
    );
  });
});
