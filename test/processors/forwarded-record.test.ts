import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { FixedKeyProcessorContext, ProcessorContext, Record } from '../../src/processors/processor.js';
import type { ProcessorAround } from '../../src/processors/processor-wrapper.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
type Forward = (record: never) => void;
type Body = (forward: Forward, record: Record<string, string>) => unknown;

/** One processor of each kind that forwards. */
const kinds: [string, (builder: StreamsBuilder, body: Body) => void][] = [
  [
    'a processor',
    (builder, body) => {
      builder
        .stream('in', text)
        .process<string, string>(() => processorOf<ProcessorContext<string, string>>(body), { name: 'mine', ...text })
        .to('out');
    },
  ],
  [
    'a processor that keeps the key',
    (builder, body) => {
      builder
        .stream('in', text)
        .processValues<string>(() => processorOf<FixedKeyProcessorContext<string, string>>(body), {
          name: 'mine',
          valueSerde: serdes.string,
        })
        .to('out');
    },
  ],
  [
    'a keyed processor',
    (builder, body) => {
      builder
        .stream('in', { ...text, watermarks: watermarks.monotonous() })
        .keyBy()
        .process<string, string>(() => processorOf(body), { name: 'mine', ...text })
        .to('out');
    },
  ],
];

function processorOf<C extends { forward: unknown }>(body: Body) {
  let context: C;
  return {
    init: (given: C) => {
      context = given;
    },
    process: (record: Record<string, string>) => {
      body((forwarded) => (context.forward as Forward)(forwarded), record);
    },
  };
}

async function outcome(build: (builder: StreamsBuilder) => void, config: TestDriverConfig = {}) {
  const builder = new StreamsBuilder();
  build(builder);
  const failures: string[] = [];
  const driver = new TopologyTestDriver(builder.build(), {
    processingHandler: (error, { node, offset }) => {
      failures.push(`${node}@${offset}: ${error.message}`);
      return 'continue';
    },
    ...config,
  });
  const input = driver.inputTopic('in', text);
  for (const value of ['good', 'bad']) await input.pipe('k', value, { timestamp: 5 });
  const written = driver
    .outputTopic('out', text)
    .readAll()
    .map(({ key, value }) => [key, value]);
  await driver.close();
  return { failures, written };
}

describe.each(kinds)('what %s forwards', (kind, build) => {
  const forwards = (bad: (record: Record<string, string>) => unknown) =>
    outcome((builder) => build(builder, (forward, record) => forward((record.value === 'bad' ? bad(record) : record) as never)));

  it.each<[string, (record: Record<string, string>) => unknown, string]>([
    [
      'misspells its value',
      ({ key, value }) => ({ key, valeu: value }),
      'the record has no value (it has valeu; did you mean value?): give one, or null',
    ],
    ['has no value', ({ key }) => ({ key }), 'the record has no value: give one, or null for none'],
    ['has an undefined value', ({ key }) => ({ key, value: undefined }), 'the value is undefined: give one, or null for none'],
    ['is an array', ({ key, value }) => [key, value], 'forward takes a record, { key, value, timestamp?, headers? }, not an array'],
    ['is a string', ({ value }) => value, 'forward takes a record, { key, value, timestamp?, headers? }, not a string'],
  ])('and %s, fails the record and deletes nothing', async (_what, bad, reason) => {
    const { failures, written } = await forwards(bad);
    expect(failures).toEqual([expect.stringContaining(`mine@1: ${reason.startsWith('forward') ? reason : `forward: ${reason}`}`)]);
    expect(written).toEqual([['k', 'good']]);
  });

  it('may be a tombstone that says so', async () => {
    expect(await forwards(({ key }) => ({ key, value: null }))).toEqual({
      failures: [],
      written: [
        ['k', 'good'],
        ['k', null],
      ],
    });
  });

  it('may have no key only where the key is that of the record in work', async () => {
    const { failures, written } = await forwards(({ value }) => ({ value }));
    const keeps = kind.includes('keeps');
    expect(failures).toEqual(keeps ? [] : [expect.stringContaining('mine@1: forward: the record has no key')]);
    expect(written).toHaveLength(keeps ? 2 : 1);
  });

  it.each([['5'], [new Date(5)], [5n], [5.5], [NaN], [-1]])('has no time such as %p', async (timestamp) => {
    await expect(forwards((record) => ({ ...record, timestamp }))).rejects.toMatchObject({ code: 'MILL_INVALID_TIMESTAMP' });
  });
});

describe('a processor wrapper', () => {
  const wrapped = (process: ProcessorAround['process']) =>
    outcome(
      (builder) => {
        builder
          .stream('in', text)
          .mapValues((value) => value, { name: 'mine', valueSerde: serdes.string })
          .to('out');
      },
      { processorWrapper: () => ({ process }) },
    );

  it('that forgets the arguments of proceed fails the record', async () => {
    const { failures, written } = await wrapped((key, value, timestamp, proceed) =>
      value === 'bad' ? (proceed as () => void)() : proceed(key, value, timestamp),
    );
    expect(failures).toEqual([expect.stringContaining('called proceed without key, value and timestamp')]);
    expect(written).toEqual([['k', 'good']]);
  });

  it('may hand on a tombstone in place of a value', async () => {
    const { failures } = await wrapped((key, _value, timestamp, proceed) => proceed(key, null, timestamp));
    expect(failures).toEqual([]);
  });
});
