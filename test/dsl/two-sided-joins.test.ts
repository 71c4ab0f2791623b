import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { WindowJoinKind } from '../../src/dsl/keyed-stream.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { MillraceError } from '../../src/errors.js';
import type { KeyedStateStore } from '../../src/processors/state/store-keyed-state-backend.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { globalWindows } from '../../src/time/windowing/global-windows.js';
import { sessionEventTime } from '../../src/time/windowing/session-windows.js';
import { slidingEventTime } from '../../src/time/windowing/sliding-windows.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import type { Windowed } from '../../src/time/windowed.js';
import type { KStream } from '../../src/dsl/kstream.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };
type Row = readonly [side: 'left' | 'right', key: string, value: string | null, timestamp: number];

/** Two keyed streams, whose watermark is `bound` ms and one behind the highest time of each. */
function setup(bound = 0) {
  const builder = new StreamsBuilder();
  const options = { ...texts, watermarks: watermarks.boundedOutOfOrderness(bound) };
  return { builder, left: builder.stream('left', options).keyBy(), right: builder.stream('right', options).keyBy() };
}

async function feed(driver: TopologyTestDriver, rows: readonly Row[]): Promise<void> {
  const topics = { left: driver.inputTopic('left', texts), right: driver.inputTopic('right', texts) };
  for (const [side, key, value, timestamp] of rows) await topics[side].pipe(key, value, { timestamp });
}

const read = (driver: TopologyTestDriver, topic: string): string[] =>
  driver
    .outputTopic(topic, texts)
    .readAll()
    .map(({ key, value, timestamp }) => `${String(key)} ${String(value)} @${timestamp}`);

/** Windowed results as texts. */
function named(stream: KStream<Windowed<string>, string>): KStream<string, string> {
  return stream.map((value, { key, window }) => [`${key}[${window.start},${window.end})`, value], texts);
}

const end: readonly Row[] = [
  ['left', 'clock', 'x', 1_000_000],
  ['right', 'clock', 'x', 1_000_000],
];

describe('temporalJoin', () => {
  it('joins with the version at the time of the record; leftTemporalJoin also without one', async () => {
    const { builder, left, right } = setup();
    left.temporalJoin(right, (order, rate) => `${order}×${rate}`, { name: 'inner', valueSerde: serdes.string }).to('inner');
    left.leftTemporalJoin(right, (order, rate) => `${order}×${rate ?? 'none'}`, { name: 'outer', valueSerde: serdes.string }).to('outer');
    await using driver = new TopologyTestDriver(builder.build());
    await feed(driver, [
      ['left', 'usd', 'o1', 50],
      ['right', 'usd', '100', 100],
      ['left', 'usd', 'o2', 150],
      ['right', 'usd', '110', 200],
      ['left', 'usd', 'o3', 200],
      ['right', 'usd', null, 300],
      ['left', 'usd', 'o4', 301],
      ...end,
    ]);
    expect(read(driver, 'inner')).toEqual(['usd o2×100 @150', 'usd o3×110 @200']);
    expect(read(driver, 'outer').slice(0, 4)).toEqual(['usd o1×none @50', 'usd o2×100 @150', 'usd o3×110 @200', 'usd o4×none @301']);
  });

  it('sends late rows to the side, or counts them', async () => {
    const { builder, left, right } = setup();
    const { results, lateLeft, lateRight } = left.temporalJoin(right, (order, rate) => order + rate, {
      name: 'join',
      valueSerde: serdes.string,
      sideOutputLate: true,
    });
    results.to('joined');
    lateLeft.to('late-left');
    lateRight.to('late-right');
    left.temporalJoin(right, (order, rate) => order + rate, { name: 'dropping', valueSerde: serdes.string }).to('x');
    await using driver = new TopologyTestDriver(builder.build());
    await feed(driver, [
      ['right', 'k', 'r', 500],
      ...end,
      ['left', 'k', 'l', 600],
      ['right', 'k', 'old', 400],
      ['left', 'k', null, 2_000_000],
    ]);
    expect(read(driver, 'late-left')).toEqual(['k l @600']);
    expect(read(driver, 'late-right')).toEqual(['k old @400']);
    expect(Object.fromEntries(driver.droppedByReason)).toMatchObject({ late: 2, 'null-value': 2 });
  });

  const event = fc.tuple(fc.constantFrom<'left' | 'right'>('left', 'right'), fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 40 }));

  it('out-of-order input within the bound gives the results of sorted input', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(event, { maxLength: 25, selector: ([side, key, time]) => `${side}${key}${time}` }),
        fc.infiniteStream(fc.integer({ min: 0, max: 10 })),
        async (events, delays) => {
          const sorted = events.toSorted((a, b) => a[2] - b[2]);
          const shuffled = sorted
            .map((each) => ({ each, at: each[2] + (delays.next().value as number) }))
            .toSorted((a, b) => a.at - b.at)
            .map(({ each }) => each);
          const { builder, left, right } = setup(10);
          left
            .leftTemporalJoin(right, (order, rate) => `${order}×${rate ?? 'none'}`, { name: 'join', valueSerde: serdes.string })
            .to('out');
          await using driver = new TopologyTestDriver(builder.build());
          await feed(driver, [...shuffled.map(([side, key, time]): Row => [side, key, `${side[0]}${time}`, time]), ...end]);
          const expected = sorted.flatMap(([side, key, time]) => {
            if (side === 'right') return [];
            const version = sorted.findLast(([of, ofKey, at]) => of === 'right' && ofKey === key && at <= time);
            return [`${key} l${time}×${version === undefined ? 'none' : `r${version[2]}`} @${time}`];
          });
          expect(
            read(driver, 'out')
              .filter((line) => !line.startsWith('clock'))
              .toSorted(),
          ).toEqual(expected.toSorted());
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('windowJoin', () => {
  const rows: readonly Row[] = [
    ['left', 'k', 'l1', 10],
    ['right', 'k', 'r1', 20],
    ['left', 'k', 'l2', 90],
    ['right', 'k', 'r2', 110],
    ['left', 'k', 'l3', 250],
    ['right', 'j', 'r3', 10],
    ...end,
  ];
  const pairs: Record<WindowJoinKind, readonly string[]> = {
    inner: ['k[0,100) l1+r1 @99', 'k[0,100) l2+r1 @99'],
    left: ['k[0,100) l1+r1 @99', 'k[0,100) l2+r1 @99', 'k[200,300) l3+- @299'],
    right: ['j[0,100) -+r3 @99', 'k[0,100) l1+r1 @99', 'k[0,100) l2+r1 @99', 'k[100,200) -+r2 @199'],
    full: ['j[0,100) -+r3 @99', 'k[0,100) l1+r1 @99', 'k[0,100) l2+r1 @99', 'k[100,200) -+r2 @199', 'k[200,300) l3+- @299'],
  };

  it.each(Object.entries(pairs))('%s: pairs within a window', async (kind, expected) => {
    const { builder, left, right } = setup(300);
    named(
      left.windowJoin(right, tumblingEventTime({ size: 100 }), (l, r) => `${l ?? '-'}+${r ?? '-'}`, {
        kind: kind as WindowJoinKind,
        name: 'join',
        valueSerde: serdes.string,
      }),
    ).to('out');
    await using driver = new TopologyTestDriver(builder.build());
    await feed(driver, rows);
    expect(
      read(driver, 'out')
        .filter((line) => !line.startsWith('clock'))
        .toSorted(),
    ).toEqual(expected);
  });

  it('takes sliding and session windows, in which both sides count', async () => {
    const { builder, left, right } = setup(300);
    const join = (l: string, r: string): string => l + r;
    named(left.windowJoin(right, slidingEventTime({ size: 100, slide: 50 }), join, { name: 'slide', valueSerde: serdes.string })).to(
      'slide',
    );
    named(left.windowJoin(right, sessionEventTime({ gap: 60 }), join, { name: 'session', valueSerde: serdes.string })).to('session');
    await using driver = new TopologyTestDriver(builder.build());
    await feed(driver, [['left', 'k', 'a', 0], ['right', 'k', 'b', 50], ['left', 'k', 'c', 109], ...end]);
    expect(read(driver, 'slide').filter((line) => line.startsWith('k'))).toEqual(['k[0,100) ab @99', 'k[50,150) cb @149']);
    expect(read(driver, 'session').filter((line) => line.startsWith('k'))).toEqual(['k[0,169) ab @168', 'k[0,169) cb @168']);
  });

  it('late records within the allowed lateness give their window anew; later ones go to the side', async () => {
    const { builder, left, right } = setup();
    const { results, lateLeft, lateRight } = left.windowJoin(
      right,
      tumblingEventTime({ size: 100 }),
      (l, r, _key, { isLate, revision }) => `${l}${r} ${isLate ? 'late' : 'first'} ${revision}`,
      { name: 'join', valueSerde: serdes.string, allowedLateness: 100, sideOutputLate: true },
    );
    named(results).to('out');
    lateLeft.to('late-left');
    lateRight.to('late-right');
    await using driver = new TopologyTestDriver(builder.build());
    const clock = (at: number): readonly Row[] => [
      ['left', 'clock', 'x', at],
      ['right', 'clock', 'x', at],
    ];
    await feed(driver, [
      ['left', 'k', 'a', 10],
      ['right', 'k', 'b', 20],
      ...clock(150),
      ['right', 'k', 'c', 30],
      ...clock(300),
      ['left', 'k', 'd', 40],
      ['right', 'k', 'e', 50],
    ]);
    expect(read(driver, 'out').filter((line) => line.startsWith('k'))).toEqual([
      'k[0,100) ab first 1 @99',
      'k[0,100) ab late 2 @99',
      'k[0,100) ac late 2 @99',
    ]);
    expect(read(driver, 'late-left')).toEqual(['k d @40']);
    expect(read(driver, 'late-right')).toEqual(['k e @50']);
  });

  it('drops records without a value', async () => {
    const { builder, left, right } = setup();
    named(left.windowJoin(right, tumblingEventTime({ size: 100 }), (l, r) => l + r, { name: 'join', valueSerde: serdes.string })).to('out');
    await using driver = new TopologyTestDriver(builder.build());
    await feed(driver, [['left', 'k', null, 10], ['right', 'k', 'b', 20], ...end]);
    expect(read(driver, 'out').filter((line) => line.startsWith('k'))).toEqual([]);
    expect(Object.fromEntries(driver.droppedByReason)).toEqual({ 'null-value': 1 });
  });

  it('coGroup gets both sides whole', async () => {
    const { builder, left, right } = setup(300);
    named(
      left.coGroup(right, tumblingEventTime({ size: 100 }), (key, ls, rs) => [`${key}: ${ls.join()} | ${rs.join()}`], {
        name: 'groups',
        valueSerde: serdes.string,
      }),
    ).to('out');
    await using driver = new TopologyTestDriver(builder.build());
    await feed(driver, rows);
    expect(
      read(driver, 'out')
        .filter((line) => !line.startsWith('clock'))
        .toSorted(),
    ).toEqual(['j[0,100) j:  | r3 @99', 'k[0,100) k: l1,l2 | r1 @99', 'k[100,200) k:  | r2 @199', 'k[200,300) k: l3 |  @299']);
  });
});

describe('a function of a join that throws', () => {
  const boom = (l: string | null, r: string | null): string => {
    if (l === 'bad' || r === 'bad') throw new Error('boom');
    return `${l}+${r}`;
  };
  const deadLetters = { processingHandler: 'deadLetter', deadLetterTopic: 'dead' } as const;
  const headersOf = (driver: TopologyTestDriver, ...names: string[]): string[] =>
    driver
      .outputTopic('dead', texts)
      .readAll()
      .map(({ key, value, headers }) => {
        const named = names.map((name) => headers.find((header) => header.key === name)?.value?.toString() ?? 'none');
        return [key, value, ...named].join(' ');
      });

  /** What the join keeps of other keys than the clock's. */
  async function stateOf(driver: TopologyTestDriver): Promise<string[]> {
    const store = await driver.store<KeyedStateStore>('join-state');
    const rows: string[] = [];
    for await (const [address] of store.range()) rows.push(JSON.stringify(address));
    return rows.filter((row) => !row.includes('clock'));
  }

  it('temporalJoin: rows of the same time before and behind the bad one are joined, in the epoch of their timer; nothing of them stays', async () => {
    const { builder, left, right } = setup();
    left.leftTemporalJoin(right, boom, { name: 'join', valueSerde: serdes.string }).to('out');
    await using driver = new TopologyTestDriver(builder.build(), deadLetters);
    await feed(driver, [
      ['right', 'k', 'r1', 1],
      ['right', 'k', 'r4', 4],
      ...['x', 'bad', 'y', 'bad', 'bad'].map((value): Row => ['left', 'k', value, 5]),
      ['left', 'k', 'z', 6],
      ...end,
    ]);
    await driver.commit();
    expect(read(driver, 'out')).toEqual(['k x+r4 @5', 'k y+r4 @5', 'k z+r4 @6']);
    expect(headersOf(driver, '__millrace.errors.key', '__streams.errors.message')).toEqual(Array(3).fill('  k boom'));
    expect((await stateOf(driver)).filter((row) => row.includes('temporal-rows'))).toEqual([]);
  });

  it('temporalJoin: the handler is told the key and the row', async () => {
    const { builder, left, right } = setup();
    left.leftTemporalJoin(right, boom, { name: 'join', valueSerde: serdes.string }).to('out');
    const told: unknown[] = [];
    await using driver = new TopologyTestDriver(builder.build(), {
      processingHandler: (error, { node, key, value, topic }) => {
        told.push([error.message, node, key, value, topic]);
        return 'continue';
      },
    });
    await feed(driver, [['left', 'k', 'bad', 5], ...end]);
    expect(told).toEqual([['boom', 'join', 'k', 'bad', null]]);
  });

  it('temporalJoin: rows of the last time are joined at the end of the input, too', async () => {
    const { builder, left, right } = setup();
    left.leftTemporalJoin(right, boom, { name: 'join', valueSerde: serdes.string }).to('out');
    await using driver = new TopologyTestDriver(builder.build(), deadLetters);
    await feed(driver, [...['x', 'bad', 'y'].map((value): Row => ['left', 'k', value, 5])]);
    await driver.endInput();
    expect(read(driver, 'out')).toEqual(['k x+null @5', 'k y+null @5']);
  });

  it('intervalJoin: what the record had met before leaves in its own epoch, and the record is removed when its time has come', async () => {
    const { builder, left, right } = setup();
    left.intervalJoin(right, { lower: -100, upper: 100 }, boom, { name: 'join', valueSerde: serdes.string }).to('out');
    await using driver = new TopologyTestDriver(builder.build(), deadLetters);
    await feed(driver, [
      ['right', 'k', 'ok', 1],
      ['right', 'k', 'bad', 2],
      ['left', 'k', 'l', 5],
    ]);
    await driver.commit();
    expect(read(driver, 'out')).toEqual(['k l+ok @5']);
    expect(headersOf(driver)).toEqual(['k l']);
    await feed(driver, end);
    expect(await stateOf(driver)).toEqual([]);
  });

  it('windowJoin: the window ends all the same, and leaves nothing', async () => {
    const { builder, left, right } = setup();
    named(left.windowJoin(right, tumblingEventTime({ size: 100 }), boom, { name: 'join', valueSerde: serdes.string })).to('out');
    await using driver = new TopologyTestDriver(builder.build(), deadLetters);
    await feed(driver, [['left', 'k', 'bad', 5], ['right', 'k', 'r', 5], ['left', 'other', 'l', 5], ['right', 'other', 'r', 5], ...end]);
    await driver.commit();
    expect(read(driver, 'out')).toEqual(['other[0,100) l+r @99']);
    expect(headersOf(driver, '__millrace.errors.key')).toEqual(['  k']);
    expect(await stateOf(driver)).toEqual([]);
  });

  it('coGroup: what one call gives leaves whole or not at all', async () => {
    const { builder, left, right } = setup();
    const results = left.coGroup(
      right,
      tumblingEventTime({ size: 100 }),
      (_key, ls) =>
        (function* given() {
          yield 'first';
          if (ls.includes('bad')) throw new Error('boom');
        })() as never as string[],
      { name: 'groups', valueSerde: serdes.string },
    );
    named(results).to('out');
    await using driver = new TopologyTestDriver(builder.build(), deadLetters);
    await feed(driver, [['left', 'k', 'bad', 5], ['left', 'other', 'good', 5], ...end]);
    await driver.commit();
    expect(read(driver, 'out')).toEqual(['other[0,100) first @99']);
  });
});

describe('results that are none are refused, with the name of the operator', () => {
  const window = tumblingEventTime({ size: 100 });
  const named = { name: 'join', valueSerde: serdes.json<unknown>() };
  type Keyed = ReturnType<typeof setup>['left'];
  type Wrong = readonly [what: string, declare: (left: Keyed, right: Keyed, result: unknown) => KStream<never, unknown>, list: boolean];
  const calls: readonly Wrong[] = [
    ['temporalJoin: the joiner', (left, right, result) => left.temporalJoin(right, () => result, named) as never, false],
    ['leftTemporalJoin: the joiner', (left, right, result) => left.leftTemporalJoin(right, () => result, named) as never, false],
    [
      'intervalJoin: the joiner',
      (left, right, result) => left.intervalJoin(right, { lower: -10, upper: 10 }, () => result, named) as never,
      false,
    ],
    ['windowJoin: the joiner', (left, right, result) => left.windowJoin(right, window, () => result, named) as never, false],
    ['coGroup: the function', (left, right, result) => left.coGroup(right, window, () => result as never, named) as never, true],
    ['process: the function', (left, _right, result) => left.window(window).process(() => result as never, named) as never, true],
    [
      'aggregate: apply',
      (left, _right, result) =>
        left
          .window(window)
          .aggregate({ initial: () => 0, add: (n) => n + 1, result: (n) => n }, { ...named, apply: () => result }) as never,
      false,
    ],
    ['reduce: the reducer', (left, _right, result) => left.window(window).reduce(() => result as string, { name: 'join' }) as never, false],
  ];
  const one: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /gave undefined: return a value, or null for none/],
    [Promise.resolve('later'), /gave a promise: it must give its result at once/],
  ];
  const list: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /gave undefined: it must give an array of results, empty for none/],
    [Promise.resolve('later'), /gave a promise: it must give its result at once/],
    ['text', /gave a string: it must give an array of results/],
    [null, /gave null: it must give an array/],
    [5, /gave 5: it must give an array/],
    [{ length: 0 }, /gave a plain object: it must give an array/],
    [[undefined], /in its array, gave undefined/],
    [[Promise.resolve('later')], /in its array, gave a promise/],
  ];

  it.each(calls)('%s', async (what, declare, givesList) => {
    for (const [result, message] of givesList ? list : one) {
      const { builder, left, right } = setup();
      declare(left, right, result).to('out');
      await using driver = new TopologyTestDriver(builder.build());
      const run = feed(driver, [['right', 'k', 'r', 5], ['left', 'k', 'l', 5], ['left', 'k', 'l', 5], ...end]);
      await expect(run).rejects.toThrow(new RegExp(`join failed on the record .*${what}`));
      await expect(run).rejects.toThrow(message);
    }
  });

  it('coGroup and process take no result, and any list', async () => {
    const { builder, left, right } = setup();
    left.coGroup(right, window, (): unknown[] => [], named).to('none');
    const set = (): string[] => new Set(['a', 'b']) as never;
    const some = left.coGroup(right, window, set, { name: 'set', valueSerde: serdes.string });
    some.map((value, { key }) => [key, value], texts).to('some');
    await using driver = new TopologyTestDriver(builder.build());
    await feed(driver, [['left', 'k', 'l', 5], ...end]);
    expect(read(driver, 'some')).toEqual(['k a @99', 'k b @99']);
  });
});

describe('what joins of keyed streams refuse', () => {
  const { left, right } = setup();
  const join = (l: string): string => l;

  it.each<[string, () => unknown, RegExp]>([
    ['a stream that is not keyed', () => left.temporalJoin({} as never, join), /temporalJoin takes a keyed stream/],
    ['null', () => left.windowJoin(null as never, tumblingEventTime({ size: 1 }), join), /windowJoin takes a keyed stream/],
    [
      'a stream of another builder',
      () => left.coGroup(setup().right, tumblingEventTime({ size: 1 }), () => []),
      /coGroup takes a keyed stream of the same/,
    ],
    ['windows that never end', () => left.windowJoin(right, globalWindows(), join), /windows that never end/],
    [
      'a kind that is none',
      () => left.windowJoin(right, tumblingEventTime({ size: 1 }), join, { kind: 'outer' as never }),
      /option kind must be "inner" or/,
    ],
    [
      'a negative lateness',
      () => left.coGroup(right, tumblingEventTime({ size: 1 }), () => [], { allowedLateness: -1 }),
      /allowedLateness/,
    ],
    [
      'a lateness that is a text',
      () => left.windowJoin(right, tumblingEventTime({ size: 1 }), join, { allowedLateness: '5' as never }),
      /allowedLateness must be milliseconds, a number of 0 or more, not "5"/,
    ],
    [
      'a lateness of windows that is a text',
      () => left.window(tumblingEventTime({ size: 1 }), { allowedLateness: '5' as never }),
      /allowedLateness must be milliseconds, a number of 0 or more, not "5"/,
    ],
    ['a misspelt option', () => left.temporalJoin(right, join, { nam: 'x' } as never), /no option nam/],
    ['what is no function', () => left.leftTemporalJoin(right, 'x' as never), /leftTemporalJoin: the joiner must be a function/],
    [
      'a source without watermarks',
      () => {
        const builder = new StreamsBuilder();
        const plain = builder.stream('plain', texts).keyBy();
        return plain.temporalJoin(plain, join);
      },
      /has no `watermarks`/,
    ],
  ])('%s', (_what, declare, message) => {
    expect(declare).toThrow(MillraceError);
    expect(declare).toThrow(message);
  });
});
