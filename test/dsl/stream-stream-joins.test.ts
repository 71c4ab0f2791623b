/** Joins of two streams. What Kafka Streams gives in many more cases is checked by the conformance runner. */
import { describe, expect, it } from '@jest/globals';
import type { StreamJoinOptions } from '../../src/dsl/options.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KStream } from '../../src/dsl/kstream.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { runTopology, strings, type Input } from './run-topology.js';

type Text = KStream<string, string>;
type Options = StreamJoinOptions<string, string, string, string>;
type Pair = string | null;

const pair = (left: Pair, right: Pair): string => `${left}+${right}`;
const later = (left: Pair, right: Pair): Promise<string> => Promise.resolve(pair(left, right));
const windows = joinWindows({ before: 10, after: 10 });

function sides(declare: (left: Text, right: Text, options: Options) => Text, more: Partial<Options> = {}) {
  return (builder: StreamsBuilder): void => {
    const [left, right] = [builder.stream<string, string>('L', strings), builder.stream<string, string>('R', strings)];
    declare(left, right, { ...strings, windows, ...more }).to('out', strings);
  };
}

const inner = (joiner: typeof pair | typeof later = pair) => sides((left, right, options) => left.join(right, joiner, options));
const left = (joiner: typeof pair | typeof later = pair, more: Partial<Options> = {}) =>
  sides((l, r, options) => l.leftJoin(r, joiner, options), more);
const outer = (joiner: typeof pair | typeof later = pair, more: Partial<Options> = {}) =>
  sides((l, r, options) => l.outerJoin(r, joiner, options), more);

const meeting: Input[] = [
  ['k', 'a', 0, 'L'],
  ['k', 'b', 10, 'R'],
  ['k', 'c', 11, 'R'],
  ['k', 'd', 5, 'L'],
  ['k', 'd', 5, 'L'],
];

describe('inner join of two streams', () => {
  it('joins each record with all within its window, both ends included, at the later time of the two', async () => {
    const { out } = await runTopology(inner(), meeting);
    expect(out).toEqual(['k=a+b@10', 'k=d+b@10', 'k=d+c@11', 'k=d+b@10', 'k=d+c@11']);
  });

  it('gives the same when the joiner answers later', async () => {
    const { out } = await runTopology(inner(later), meeting);
    expect(out).toEqual(['k=a+b@10', 'k=d+b@10', 'k=d+c@11', 'k=d+b@10', 'k=d+c@11']);
  });

  it('drops and counts records without a key or a value', async () => {
    const { out, dropped } = await runTopology(inner(), [
      [null, 'a', 0, 'L'],
      ['k', null, 1, 'R'],
    ]);
    expect(out).toEqual([]);
    expect(dropped).toEqual({ 'null-key': 1, 'null-value': 1 });
  });

  it('windows may be lopsided', async () => {
    const declare = sides((l, r, options) => l.join(r, pair, options), { windows: joinWindows({ before: -2, after: 5 }) });
    const { out } = await runTopology(declare, [
      ['k', 'a', 10, 'L'],
      ['k', 'b', 11, 'R'],
      ['k', 'c', 12, 'R'],
      ['k', 'd', 15, 'R'],
      ['k', 'e', 16, 'R'],
    ]);
    expect(out).toEqual(['k=a+c@12', 'k=a+d@15']);
  });
});

describe('left join of two streams', () => {
  const rows: Input[] = [
    ['k', 'a', 0, 'L'],
    ['k', 'x', 0, 'R'],
    ['j', 'b', 5, 'L'],
    ['j', 'y', 15, 'L'],
    ['m', 'z', 16, 'R'],
  ];

  it('gives a record without a partner when stream time has passed its window and grace', async () => {
    expect((await runTopology(left(), rows)).out).toEqual(['k=a+x@0', 'j=b+null@5']);
    expect((await runTopology(left(pair, { windows: joinWindows({ before: 10, after: 10, grace: 1 }) }), rows)).out).toEqual(['k=a+x@0']);
  });

  it('gives the same when the joiner answers later', async () => {
    expect((await runTopology(left(later), rows)).out).toEqual(['k=a+x@0', 'j=b+null@5']);
  });

  it('gives all records of one key and time, and none of them once one has met a partner', async () => {
    const twice: Input[] = [
      ['k', 'a', 0, 'L'],
      ['k', 'b', 0, 'L'],
    ];
    expect((await runTopology(left(), [...twice, ['z', 'z', 11, 'R']])).out).toEqual(['k=a+null@0', 'k=b+null@0']);
    expect((await runTopology(left(), [...twice, ['k', 'x', 10, 'R'], ['z', 'z', 11, 'R']])).out).toEqual(['k=a+x@10', 'k=b+x@10']);
  });

  it('gives a late record without a partner at once, and one without a key too', async () => {
    const { out, dropped } = await runTopology(left(), [
      ['z', 'z', 100, 'R'],
      ['k', 'late', 20, 'L'],
      [null, 'nobody', 100, 'L'],
      [null, 'nobody', 100, 'R'],
    ]);
    expect(out).toEqual(['k=late+null@20', 'null=nobody+null@100']);
    expect(dropped).toEqual({ 'null-key': 1 });
  });
});

describe('outer join of two streams', () => {
  it('closes each side by its own reach: before for right records, after for left ones', async () => {
    const declare = outer(pair, { windows: joinWindows({ before: 2, after: 20 }) });
    const { out } = await runTopology(declare, [
      ['l', 'a', 0, 'L'],
      ['r', 'b', 0, 'R'],
      ['z', 'z', 3, 'R'],
      ['z', 'z', 21, 'R'],
    ]);
    expect(out).toEqual(['r=null+b@0', 'l=a+null@0', 'z=null+z@3']);
  });

  it('gives what closed in order of time, the right side first', async () => {
    const { out } = await runTopology(outer(later), [
      ['l', 'a', 1, 'L'],
      ['r', 'b', 1, 'R'],
      ['r', 'c', 0, 'R'],
      ['z', 'z', 50, 'L'],
    ]);
    expect(out).toEqual(['r=null+c@0', 'r=null+b@1', 'l=a+null@1']);
  });
});

describe('join of a stream with itself', () => {
  const rows: Input[] = [
    ['k', 'a', 0, 'L'],
    ['k', 'b', 5, 'L'],
    ['k', 'c', 50, 'L'],
  ];
  const declare = (builder: StreamsBuilder): void => {
    const stream = builder.stream<string, string>('L', strings);
    stream.join(stream, pair, { ...strings, windows }).to('out', strings);
  };

  it('meets itself once', async () => {
    expect((await runTopology(declare, rows)).out).toEqual(['k=a+a@0', 'k=b+a@5', 'k=a+b@5', 'k=b+b@5', 'k=c+c@50']);
  });

  it('needs one store when that is optimised, and gives the same', async () => {
    const builder = new StreamsBuilder();
    declare(builder);
    const topology = builder.build({ optimizations: ['singleStoreSelfJoin'] });
    expect([...topology.stores.keys()]).toEqual(['KSTREAM-JOINTHIS-0000000003-store']);
    await using driver = new TopologyTestDriver(topology);
    for (const [key, value, timestamp, topic = 'in'] of rows) await driver.inputTopic(topic, strings).pipe(key, value, { timestamp });
    const values = driver
      .outputTopic('out', strings)
      .readAll()
      .map(({ value }) => value);
    expect(values).toEqual(['a+a', 'b+a', 'a+b', 'b+b', 'c+c']);
  });
});

describe('streams with changed keys', () => {
  it('are repartitioned on both sides before they are joined', async () => {
    const declare = sides(
      (l, r, options) =>
        l
          .selectKey((value) => value[0]!, strings)
          .join(
            r.selectKey((value) => value[0]!, strings),
            pair,
            options,
          ),
      {
        name: 'j',
      },
    );
    const builder = new StreamsBuilder();
    declare(builder);
    expect([...builder.build().repartitionTopics.keys()]).toEqual(['j-left-repartition', 'j-right-repartition']);
    const { out } = await runTopology(declare, [
      ['1', 'ka', 0, 'L'],
      ['2', 'kb', 1, 'R'],
    ]);
    expect(out).toEqual(['k=ka+kb@1']);
  });
});

describe('a joiner that throws on a record without a partner', () => {
  it('leaves a dead letter without the bytes of the record that closed the window', async () => {
    const builder = new StreamsBuilder();
    outer((l, r) => {
      if (l === 'bad') throw new Error('boom');
      return pair(l, r);
    })(builder);
    await using driver = new TopologyTestDriver(builder.build(), { processingHandler: 'deadLetter', deadLetterTopic: 'dead' });
    const l = driver.inputTopic('L', strings);
    await l.pipe('k', 'bad', { timestamp: 0 });
    await l.pipe('other', 'good', { timestamp: 100, headers: [{ key: 'trace', value: Buffer.from('of the good one') }] });

    const [dead, ...more] = driver.outputTopic('dead', { keySerde: serdes.bytes, valueSerde: serdes.bytes }).readAll();
    const headers = Object.fromEntries(dead!.headers.map(({ key, value }) => [key, String(value)]));
    expect(more).toEqual([]);
    expect([dead!.key, dead!.value]).toEqual([null, null]);
    expect(headers).toMatchObject({ '__millrace.errors.key': 'k', '__streams.errors.message': 'boom', '__streams.errors.topic': 'L' });
    expect(headers).not.toHaveProperty('trace');
  });

  it.each(['now', 'later'])('(%s) fails once: the record is gone, those behind it leave, and so do all records to come', async (when) => {
    const builder = new StreamsBuilder();
    const joiner = (l: Pair, r: Pair): string | Promise<string> => {
      if (l !== 'bad') return when === 'now' ? pair(l, r) : later(l, r);
      if (when === 'now') throw new Error('boom');
      return Promise.reject(new Error('boom'));
    };
    outer(joiner as typeof later)(builder);
    const told: unknown[] = [];
    await using driver = new TopologyTestDriver(builder.build(), {
      processingHandler: ({ message }, { key, value }) => {
        told.push([message, key, value]);
        return 'continue';
      },
    });
    const l = driver.inputTopic('L', strings);
    for (const value of ['x', 'bad', 'y']) await l.pipe('k', value, { timestamp: 0 });
    for (const timestamp of [100, 200, 300, 400]) await l.pipe('k', `at ${timestamp}`, { timestamp });
    const out = driver.outputTopic('out', strings).readAll();
    expect(told).toEqual([['boom', 'k', 'bad']]);
    expect(out.map(({ value }) => value)).toEqual(['x+null', 'y+null', 'at 100+null', 'at 200+null', 'at 300+null']);
  });
});
