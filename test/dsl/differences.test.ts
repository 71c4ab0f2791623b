/** Where Millrace differs from Kafka Streams on purpose: docs/Guides/coming-from-kafka-streams.md names these tests line by line. */
import { describe, expect, it } from '@jest/globals';
import type { Headers } from '../../src/bytes/headers.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { untilTimeLimit } from '../../src/dsl/suppressed.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { tumbling } from '../../src/time/time-windows.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

function run(declare: (builder: StreamsBuilder) => void, config: TestDriverConfig = {}) {
  const builder = new StreamsBuilder();
  declare(builder);
  const driver = new TopologyTestDriver(builder.build(), config);
  const out = driver.outputTopic('out', text);
  return { driver, input: (topic: string) => driver.inputTopic(topic, text), values: () => out.readAll().map(({ value }) => value), out };
}

describe('on purpose', () => {
  it.each([
    ['tumbling', tumbling({ size: 10 }), [0, 11, 1_000], ['0', '10']],
    ['sliding', sliding({ timeDifference: 10 }), [20, 1_000], ['10']],
  ] as const)('final results of %s windows that time jumps over are sent', async (_kind, windows, times, starts) => {
    const { input, values } = run((builder) => {
      builder
        .stream('in', text)
        .groupByKey()
        .windowedBy(windows)
        .count({ emit: 'onWindowClose' })
        .toStream()
        .map((_count, { key, window }) => [key, String(window.start)], text)
        .to('out');
    });
    for (const timestamp of times) await input('in').pipe('A', '1', { timestamp });
    expect(values()).toEqual(starts);
  });

  it.each([
    ['onUpdate', ['1', '2', '3']],
    ['onCommit', ['3']],
  ] as const)('what leaves is declared and no matter of caches: %s', async (emit, expected) => {
    const { driver, input, values } = run(
      (builder) => {
        builder.stream('in', text).groupByKey().count({ emit }).toStream().mapValues(String, { valueSerde: serdes.string }).to('out');
      },
      { autoCommit: false },
    );
    for (const value of 'abc') await input('in').pipe('k', value);
    await driver.commit();
    expect(values()).toEqual(expected);
  });

  it('results have the headers of the record that caused them', async () => {
    const { input, out } = run((builder) => {
      const stream = builder.stream('in', text);
      const named = builder.table('names', text);
      stream.mapValues((value) => `mapped ${value}`, { valueSerde: serdes.string }).to('out');
      stream.join(named, (value, name) => `${value} of ${name}`, { valueSerde: serdes.string }).to('out');
      stream
        .join(builder.stream('other', text), (value, other) => `${value} with ${other}`, {
          windows: joinWindows({ before: 10, after: 10 }),
          valueSerde: serdes.string,
        })
        .to('out');
      stream
        .groupByKey()
        .reduce((_, value) => `reduced ${value}`, { emit: 'onUpdate' })
        .toStream()
        .to('out');
    });
    const from = (source: string): Headers => [{ key: 'from', value: Buffer.from(source) }];
    await input('names').pipe('k', 'Ada', { headers: from('table') });
    await input('in').pipe('k', 'v', { headers: from('stream') });
    await input('other').pipe('k', 'w', { headers: from('other') });
    const seen = out.readAll().map(({ value, headers }) => `${value}: ${headers.map((header) => String(header.value)).join()}`);
    expect(seen).toEqual(['mapped v: stream', 'v of Ada: stream', 'v: stream', 'v with w: other']);
  });

  it('a session that grows in place tells what it was, so that groups of sessions subtract it', async () => {
    const { input, values } = run((builder) => {
      builder
        .stream('in', text)
        .groupByKey()
        .windowedBy(sessions({ gap: 10 }))
        .reduce((sum, value) => String(Number(sum) + Number(value)), { emit: 'onUpdate' })
        .groupBy((sum) => ['all', sum], text)
        .reduce(
          (sum, value) => String(Number(sum) + Number(value)),
          (sum, value) => String(Number(sum) - Number(value)),
          { emit: 'onUpdate' },
        )
        .toStream()
        .to('out');
    });
    await input('in').pipe('k', '1', { timestamp: 0 });
    await input('in').pipe('k', '2', { timestamp: 0 });
    await input('in').pipe('other', '10', { timestamp: 0 });
    expect(values().at(-1)).toBe('13');
  });

  it('tables that are joined by key send their changes at once, so that rows and changes agree', async () => {
    const { driver, input, values } = run(
      (builder) => {
        const left = builder.table('left', { ...text, materialized: { storeName: 'left-store' } });
        const right = builder.table('right', { ...text, materialized: { storeName: 'right-store' } });
        left
          .join(right, (one, other) => `${one}${other}`)
          .toStream()
          .to('out', text);
      },
      { emit: 'onCommit', autoCommit: false },
    );
    await input('left').pipe('k', 'a');
    await input('right').pipe('k', '1');
    await input('right').pipe('k', '2');
    expect(values()).toEqual(['a1', 'a2']);
    await driver.close();
  });

  it('user functions may be async, and records keep their order', async () => {
    const { input, values } = run((builder) => {
      builder
        .stream('in', text)
        .mapValues((value) => (value === 'slow' ? Promise.resolve().then(() => 'slow') : value), { valueSerde: serdes.string })
        .to('out');
    });
    for (const value of ['slow', 'quick', 'slow']) await input('in').pipe('k', value);
    expect(values()).toEqual(['slow', 'quick', 'slow']);
  });

  it('dropped records are counted by reason', async () => {
    const { driver, input } = run((builder) => {
      builder
        .stream('in', text)
        .groupByKey()
        .windowedBy(tumbling({ size: 10 }))
        .count()
        .toStream()
        .map((count, { key }) => [key, String(count)], text)
        .to('out');
    });
    await input('in').pipe('k', 'v', { timestamp: 100 });
    await input('in').pipe('k', 'late', { timestamp: 0 });
    await input('in').pipe(null, 'v', { timestamp: 100 });
    expect(Object.fromEntries(driver.droppedByReason)).toEqual({ late: 1, 'null-key': 1 });
  });

  it('suppress may spill: more rows than its bounds are kept, none leaves early and the app goes on', async () => {
    const { input, values } = run((builder) => {
      builder
        .table('in', text)
        .suppress(untilTimeLimit(100, { maxRecords: 2, whenFull: 'spill' }))
        .toStream()
        .to('out');
    });
    for (const key of 'abcde') await input('in').pipe(key, key, { timestamp: 0 });
    expect(values()).toEqual([]);
    await input('in').pipe('f', 'f', { timestamp: 100 });
    expect(values()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('the first change of a stream’s aggregate has no old value: a groupBy behind it subtracts nothing that was never added', async () => {
    const { input, values } = run((builder) => {
      builder
        .stream('in', text)
        .groupByKey()
        .aggregate(
          () => '100',
          (sum, value) => String(Number(sum) + Number(value)),
          { emit: 'onUpdate', materialized: { valueSerde: serdes.string } },
        )
        .groupBy((sum) => ['all', sum], text)
        .aggregate(
          () => '0',
          (sum, value) => String(Number(sum) + Number(value)),
          (sum, value) => String(Number(sum) - Number(value)),
          { emit: 'onUpdate', materialized: { valueSerde: serdes.string } },
        )
        .toStream()
        .to('out');
    });
    await input('in').pipe('k', '1');
    expect(values()).toEqual(['101']);
  });

  it('a merged repartition stays behind a processor, which may change keys', async () => {
    const builder = new StreamsBuilder();
    const rekeyed = builder
      .stream('in', text)
      .selectKey((value) => value, { keySerde: serdes.string })
      .process<string, string>(() => ({ process: () => undefined }), { name: 'own', ...text });
    rekeyed.groupByKey().count();
    rekeyed.groupByKey().reduce((sum, value) => sum + value);
    const { subTopologies } = builder.build({ optimizations: ['mergeRepartitions'] });
    expect(subTopologies[0]?.nodes).toContain('own');
    expect(subTopologies.filter(({ sourceTopics }) => sourceTopics.some(({ internal }) => internal))).toHaveLength(1);
  });
});
