/** Topologies of the DSL run as declared: each operator is wired to its children and its store. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { hopping, tumbling } from '../../src/time/time-windows.js';

const { string } = serdes;
const strings = { keySerde: string, valueSerde: string };

type Input = readonly [topic: string, key: string | null, value: string | null, timestamp?: number];

/** Feeds the records and gives what was written to `out` (and `out-<n>`), as `topic key=value`. */
async function run(
  declare: (builder: StreamsBuilder) => void,
  inputs: readonly Input[],
  outputs: readonly string[] = ['out'],
): Promise<string[]> {
  const builder = new StreamsBuilder();
  declare(builder);
  await using driver = new TopologyTestDriver(builder.build(), { emit: 'onUpdate', defaultKeySerde: string, defaultValueSerde: string });
  for (const [topic, key, value, timestamp = 0] of inputs) await driver.inputTopic(topic, strings).pipe(key, value, { timestamp });
  return outputs.flatMap((topic) =>
    driver
      .outputTopic(topic, strings)
      .readAll()
      .map((record) => `${outputs.length > 1 ? `${topic} ` : ''}${String(record.key)}=${String(record.value)}`),
  );
}

describe('a topology of the DSL', () => {
  it('counts words', async () => {
    const words = (builder: StreamsBuilder) =>
      builder
        .stream('in', strings)
        .flatMapValues((line) => line.split(' '), { valueSerde: string })
        .groupBy((word) => word, { name: 'by-word', keySerde: string })
        .count({ materialized: { storeName: 'counts' } })
        .toStream()
        .mapValues(String, { valueSerde: string })
        .to('out');
    expect(await run(words, [['in', null, 'a b a']])).toEqual(['a=1', 'b=1', 'a=2']);
  });

  it('sends each record to the first branch that takes it', async () => {
    const split = (builder: StreamsBuilder) => {
      const { long, short } = builder
        .stream('in', strings)
        .split({ name: 'by-' })
        .branch((value) => value.length > 3, { name: 'long' })
        .defaultBranch({ name: 'short' });
      long.to('out-1');
      short.to('out-2');
    };
    const inputs: Input[] = [
      ['in', '1', 'long word'],
      ['in', '2', 'x'],
    ];
    expect(await run(split, inputs, ['out-1', 'out-2'])).toEqual(['out-1 1=long word', 'out-2 2=x']);
  });

  it('reduces and aggregates, each in its own store, from one grouping', async () => {
    const both = (builder: StreamsBuilder) => {
      const grouped = builder.stream('in', strings).groupByKey();
      grouped
        .reduce((a, b) => a + b)
        .toStream()
        .to('out-1');
      grouped
        .aggregate(
          () => '<',
          (a, b) => a + b,
          { materialized: { valueSerde: string } },
        )
        .toStream()
        .to('out-2');
    };
    const inputs: Input[] = [
      ['in', 'k', 'a'],
      ['in', 'k', 'b'],
    ];
    expect(await run(both, inputs, ['out-1', 'out-2'])).toEqual(['out-1 k=a', 'out-1 k=ab', 'out-2 k=<a', 'out-2 k=<ab']);
  });

  it('aggregates by window', async () => {
    const windowed = (builder: StreamsBuilder) => {
      const grouped = builder.stream('in', strings).groupByKey();
      grouped
        .windowedBy(tumbling({ size: 10 }))
        .reduce((a, b) => a + b)
        .toStream()
        .map((value, key) => [String(key), value], strings)
        .to('out-1');
      grouped
        .windowedBy(hopping({ size: 10, advance: 5 }))
        .count()
        .toStream()
        .map((value, key) => [String(key), String(value)], strings)
        .to('out-2');
    };
    const inputs: Input[] = [
      ['in', 'k', 'a', 6],
      ['in', 'k', 'b', 8],
    ];
    expect(await run(windowed, inputs, ['out-1', 'out-2'])).toEqual([
      'out-1 [k@0/10]=a',
      'out-1 [k@0/10]=ab',
      'out-2 [k@0/10]=1',
      'out-2 [k@5/15]=1',
      'out-2 [k@0/10]=2',
      'out-2 [k@5/15]=2',
    ]);
  });

  it('joins with a table, and with a global table by any key', async () => {
    const joined = (builder: StreamsBuilder) => {
      const stream = builder.stream('in', strings).selectKey((value) => value.slice(0, 1), { name: 'first-letter', keySerde: string });
      stream.join(builder.table('t', strings), (value, row) => `${value}+${row}`, { valueSerde: string }).to('out-1');
      stream
        .leftJoin(builder.globalTable('g', strings), (value, row) => `${value}+${String(row)}`, {
          keyOf: (value) => value.slice(1),
          valueSerde: string,
        })
        .to('out-2');
    };
    const inputs: Input[] = [
      ['t', 'a', 'row'],
      ['g', 'b', 'global'],
      ['in', null, 'ab'],
      ['in', null, 'xy'],
    ];
    expect(await run(joined, inputs, ['out-1', 'out-2'])).toEqual(['out-1 a=ab+row', 'out-2 a=ab+global', 'out-2 x=xy+null']);
  });

  it('drops null keys at a repartition, but not before a left join', async () => {
    const rekeyed = (builder: StreamsBuilder) => {
      const stream = builder.stream('in', strings).selectKey((): string => null as never, { name: 'nobody', keySerde: string });
      stream
        .leftJoin(builder.table('t', strings), (value, row) => `${value}+${String(row)}`, { name: 'left', valueSerde: string })
        .to('out-1');
      stream.repartition({ name: 'plain' }).to('out-2');
    };
    expect(await run(rekeyed, [['in', 'k', 'v']], ['out-1', 'out-2'])).toEqual(['out-1 null=v+null']);
  });

  it('merges, filters, peeks and makes tables', async () => {
    const seen: string[] = [];
    const merged = (builder: StreamsBuilder) =>
      builder
        .stream('in', strings)
        .merge(builder.stream('in2', strings))
        .filter((value) => value !== 'no')
        .peek((value, key, meta) => seen.push(`${String(meta.topic)} ${key}=${value}`))
        .toTable({ materialized: { storeName: 'latest' } })
        .toStream()
        .to('out');
    const inputs: Input[] = [
      ['in', 'k', 'a'],
      ['in2', 'k', 'b'],
      ['in', 'k', 'no'],
    ];
    expect(await run(merged, inputs)).toEqual(['k=a', 'k=b']);
    expect(seen).toEqual(['in k=a', 'in2 k=b']);
  });

  it('writes to the topic that a function names', async () => {
    const routed = (builder: StreamsBuilder) => builder.stream('in', strings).to((value, key) => `out-${value}-${key}`);
    expect(await run(routed, [['in', 'k', '1']], ['out-1-k', 'out-2-k'])).toEqual(['out-1-k k=1']);
  });
});
