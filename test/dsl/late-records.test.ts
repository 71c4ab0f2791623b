/** Late records: dropped and counted, or, on request, sent to a stream of their own or to the dead-letter topic. One rule for every operator with windows. */
import { describe, expect, it } from '@jest/globals';
import type { KStream } from '../../src/dsl/kstream.js';
import type { LateOption } from '../../src/dsl/options.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { hopping, tumbling } from '../../src/time/time-windows.js';
import { runTopology, strings, write, type Input } from './run-topology.js';

type Late = LateOption<string, string>;
type Operator = (stream: KStream<string, string>, late: Late | undefined) => void;

const lateTo: Late = (late) => late.mapValues((value) => value, { valueSerde: strings.valueSerde }).to('late', strings);
const join = (one: string, other: string) => `${one}${other}`;

/** Each with windows of 10 ms and no grace, so that a record of time 5 is late at 100. */
const operators: readonly (readonly [string, Operator])[] = [
  [
    'a tumbling count',
    (stream, late) =>
      write(
        stream
          .groupByKey()
          .windowedBy(tumbling({ size: 10 }))
          .count({ late }),
      ),
  ],
  [
    'a tumbling reduce',
    (stream, late) =>
      write(
        stream
          .groupByKey()
          .windowedBy(tumbling({ size: 10 }))
          .reduce(join, { late }),
      ),
  ],
  [
    'a tumbling aggregate',
    (stream, late) =>
      write(
        stream
          .groupByKey()
          .windowedBy(tumbling({ size: 10 }))
          .aggregate(() => '', join, { late, materialized: strings }),
      ),
  ],
  [
    'a hopping count',
    (stream, late) =>
      write(
        stream
          .groupByKey()
          .windowedBy(hopping({ size: 10, advance: 5 }))
          .count({ late }),
      ),
  ],
  [
    'a sliding count',
    (stream, late) =>
      write(
        stream
          .groupByKey()
          .windowedBy(sliding({ timeDifference: 10, grace: 0 }))
          .count({ late }),
      ),
  ],
  [
    'a sliding reduce',
    (stream, late) =>
      write(
        stream
          .groupByKey()
          .windowedBy(sliding({ timeDifference: 10, grace: 0 }))
          .reduce(join, { late }),
      ),
  ],
  [
    'a session count',
    (stream, late) =>
      write(
        stream
          .groupByKey()
          .windowedBy(sessions({ gap: 10, grace: 0 }))
          .count({ late }),
      ),
  ],
  [
    'a session aggregate',
    (stream, late) =>
      write(
        stream
          .groupByKey()
          .windowedBy(sessions({ gap: 10, grace: 0 }))
          .aggregate(() => '', join, join, { late, materialized: strings }),
      ),
  ],
  [
    'cogrouped windows',
    (stream, late) =>
      write(
        stream
          .groupByKey()
          .cogroup((total: string, value: string) => total + value)
          .windowedBy(tumbling({ size: 10 }))
          .aggregate(() => '', { late: late as LateOption<string, unknown>, materialized: strings }),
      ),
  ],
];

const inputs: Input[] = [
  ['a', 'v1', 100],
  ['a', 'too late', 5],
  ['a', 'v2', 101],
];

async function run(operator: Operator, late: Late | undefined, records = inputs) {
  const builder = new StreamsBuilder();
  operator(builder.stream('in', strings), late);
  await using driver = new TopologyTestDriver(builder.build(), { emit: 'onUpdate', deadLetterTopic: 'dlq' });
  for (const [key, value, timestamp] of records) await driver.inputTopic('in', strings).pipe(key, value, { timestamp });
  const read = (topic: string) => {
    try {
      return driver.outputTopic(topic, strings).readAll();
    } catch {
      return [];
    }
  };
  return {
    out: read('out').map(({ key, value }) => `${String(key)}=${String(value)}`),
    late: read('late').map(({ key, value, timestamp }) => `${String(key)}=${String(value)}@${timestamp}`),
    dlq: read('dlq'),
    dropped: Object.fromEntries(driver.droppedByReason),
  };
}

describe.each(operators)('%s', (_name, operator) => {
  it('drops late records and counts them', async () => {
    const { dropped, late, dlq } = await run(operator, undefined);
    expect(dropped['late']).toBeGreaterThan(0);
    expect([late, dlq]).toEqual([[], []]);
    expect(await run(operator, 'drop')).toEqual(await run(operator, undefined));
  });

  it('gives the stream of them, each once and as it came, and counts none of them as dropped', async () => {
    const { out, late, dropped } = await run(operator, lateTo);
    expect(late).toEqual(['a=too late@5']);
    expect(dropped).toEqual({});
    expect(out).toEqual((await run(operator, undefined)).out);
  });

  it('sends them to the dead-letter topic, and says which operator found them late', async () => {
    const { dlq, dropped, out } = await run(operator, 'deadLetter');
    expect(dlq).toMatchObject([{ key: 'a', value: 'too late', timestamp: 5 }]);
    const headers = Object.fromEntries(dlq[0]!.headers.map(({ key, value }) => [key, String(value)]));
    expect(headers['__streams.errors.message']).toContain('MILL_LATE_RECORD');
    expect(headers['__streams.errors.offset']).toBe('1');
    expect(dropped).toEqual({});
    expect(out).toEqual((await run(operator, undefined)).out);
  });
});

describe('a record that is late for some of its windows', () => {
  it('counts in the others, is counted for those that are closed, and goes nowhere else', async () => {
    const hops: Operator = (stream, late) =>
      write(
        stream
          .groupByKey()
          .windowedBy(hopping({ size: 10, advance: 5 }))
          .count({ late }),
      );
    const records: Input[] = [
      ['a', 'v1', 12],
      ['a', 'half late', 7],
    ];
    for (const late of [undefined, lateTo]) {
      const result = await run(hops, late, records);
      expect(result.late).toEqual([]);
      expect(result.dropped).toEqual({ late: 1 });
      expect(result.out).toHaveLength(3);
    }
  });
});

describe('a join of streams', () => {
  const windows = joinWindows({ before: 10, after: 10, grace: 0 });
  const joined: Input[] = [
    ['k', 'right', 100, 'right'],
    ['k', 'left', 105],
    ['k', 'late left', 1],
    ['k', 'late right', 2, 'right'],
  ];

  it('gives the late records of each side that could not be kept any more', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', strings)
      .join(builder.stream('right', strings), join, {
        windows,
        late: { left: (late) => late.to('late-left'), right: (late) => late.to('late-right') },
        valueSerde: strings.valueSerde,
      })
      .to('out', strings);
    await using driver = new TopologyTestDriver(builder.build());
    for (const [key, value, timestamp, topic = 'in'] of joined) await driver.inputTopic(topic, strings).pipe(key, value, { timestamp });
    expect(driver.outputTopic('late-left', strings).readAll()).toMatchObject([{ key: 'k', value: 'late left', timestamp: 1 }]);
    expect(driver.outputTopic('late-right', strings).readAll()).toMatchObject([{ key: 'k', value: 'late right', timestamp: 2 }]);
    expect(driver.outputTopic('out', strings).readAll()).toMatchObject([{ value: 'leftright' }]);
  });

  it('dead-letters them', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', strings)
      .outerJoin(builder.stream('right', strings), (one, other) => `${String(one)}${String(other)}`, { windows, late: 'deadLetter' })
      .to('out', strings);
    await using driver = new TopologyTestDriver(builder.build(), { deadLetterTopic: 'dlq' });
    for (const [key, value, timestamp, topic = 'in'] of joined) await driver.inputTopic(topic, strings).pipe(key, value, { timestamp });
    expect(
      driver
        .outputTopic('dlq', strings)
        .readAll()
        .map(({ value }) => value),
    ).toEqual(['late left', 'late right']);
  });
});

describe('a versioned table', () => {
  it('gives the records that are older than its history', async () => {
    const builder = new StreamsBuilder();
    const table = builder.table('in', {
      ...strings,
      materialized: { storeName: 'rows', historyRetention: 50 },
      late: (late) => late.to('late'),
    });
    write(table);
    await using driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('in', strings);
    await input.pipe('k', 'new', { timestamp: 1000 });
    await input.pipe('k', 'ancient', { timestamp: 1 });
    await input.pipe('k', null, { timestamp: 2 });
    expect(driver.outputTopic('late', strings).readAll()).toMatchObject([{ value: 'ancient' }, { value: null }]);
    expect(Object.fromEntries(driver.droppedByReason)).toEqual({});
  });

  it('only: in other tables no record is late', () => {
    const attempt = () => new StreamsBuilder().table('in', { ...strings, late: 'deadLetter' });
    expect(attempt).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID' }));
    expect(() => new StreamsBuilder().stream('in', strings).toTable({ late: () => undefined })).toThrow(/no record is late/);
  });
});

describe('what is refused', () => {
  it('another answer than those', async () => {
    const attempt = () => runTopology((builder) => operators[0]?.[1](builder.stream('in', strings), 'ignore' as never), []);
    await expect(attempt()).rejects.toThrow(/"drop", "deadLetter" or a function/);
  });

  it('a dead letter without a topic for it, when the task opens', async () => {
    const builder = new StreamsBuilder();
    operators[0]?.[1](builder.stream('in', strings), 'deadLetter');
    const driver = new TopologyTestDriver(builder.build());
    await expect(driver.inputTopic('in', strings).pipe('k', 'v')).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID' });
  });
});
