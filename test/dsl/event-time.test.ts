import { describe, expect, it } from '@jest/globals';
import type { ProcessingHandler } from '../../src/runtime/error-policy.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KStream } from '../../src/dsl/kstream.js';
import type { FiredTimer, KeyedProcessor, KeyedProcessorContext } from '../../src/processors/event-time/keyed-processor.js';
import type { Record } from '../../src/processors/processor.js';
import { listState, valueState } from '../../src/processors/state/state-descriptor.js';
import type { ListState, ValueState } from '../../src/processors/state/keyed-state.js';
import { continuousProcessingTimeTrigger } from '../../src/processors/windowing/triggers/continuous-triggers.js';
import { countTrigger } from '../../src/processors/windowing/triggers/count-trigger.js';
import { timeWindowedSerde } from '../../src/serdes/windowed.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import type { Windowed } from '../../src/time/windowed.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { globalWindows } from '../../src/time/windowing/global-windows.js';
import { sessionEventTime } from '../../src/time/windowing/session-windows.js';
import { tumblingEventTime, tumblingProcessingTime } from '../../src/time/windowing/tumbling-windows.js';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const texts = { keySerde: serdes.string, valueSerde: serdes.string };

const mean = {
  initial: () => ({ sum: 0, count: 0 }),
  add: (acc: { sum: number; count: number }, value: number) => ({ sum: acc.sum + value, count: acc.count + 1 }),
  result: (acc: { sum: number; count: number }) => acc.sum / acc.count,
  merge: (a: { sum: number; count: number }, b: { sum: number; count: number }) => ({ sum: a.sum + b.sum, count: a.count + b.count }),
};

function readings(builder: StreamsBuilder, bound = 0): KStream<string, number> {
  return builder.stream('readings', { ...numbers, watermarks: watermarks.boundedOutOfOrderness(bound) });
}

describe('windows in event time', () => {
  it('give the mean of a minute once, when the watermark has passed it, whatever the order within the bound', async () => {
    const builder = new StreamsBuilder();
    readings(builder, 30_000)
      .keyBy()
      .window(tumblingEventTime({ size: 60_000 }))
      .aggregate(mean, { name: 'mean', valueSerde: serdes.double })
      .to('means');
    await using driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('readings', numbers);
    const means = driver.outputTopic('means', { keySerde: timeWindowedSerde(serdes.string, 60_000), valueSerde: serdes.double });
    await input.pipe('device-A', 20, { timestamp: 12_000 });
    await input.pipe('device-A', 22, { timestamp: 40_000 });
    await input.pipe('device-A', 24, { timestamp: 20_000 });
    await input.pipe('device-B', 5, { timestamp: 89_999 });
    expect(means.isEmpty).toBe(true);
    await input.pipe('device-B', 5, { timestamp: 90_000 });
    expect(means.readAll().map(shown)).toEqual([['device-A', 0, 22, 59_999]]);
  });

  it('fire again for late records that are allowed, count the revisions, and send the others to the side', async () => {
    const builder = new StreamsBuilder();
    const { results, late } = readings(builder)
      .keyBy()
      .window(tumblingEventTime({ size: 60_000 }), { allowedLateness: 10_000 })
      .aggregate(mean, {
        name: 'mean',
        sideOutputLate: true,
        apply: (_key, value, { isLate, revision }) => `${value}, revision ${revision}${isLate ? ', late' : ''}`,
        valueSerde: serdes.string,
      });
    results.to('means');
    late.to('late');
    await using driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('readings', numbers);
    const means = driver.outputTopic('means', { keySerde: timeWindowedSerde(serdes.string, 60_000), valueSerde: serdes.string });
    await input.pipe('a', 20, { timestamp: 12_000 });
    await input.pipe('a', 22, { timestamp: 40_000 });
    await input.pipe('b', 1, { timestamp: 60_000 });
    await input.pipe('a', 24, { timestamp: 20_000 });
    await input.pipe('b', 1, { timestamp: 70_000 });
    await input.pipe('a', 99, { timestamp: 30_000 });
    expect(means.readAll().map(({ value }) => value)).toEqual(['21, revision 1', '22, revision 2, late']);
    expect(driver.outputTopic('late', numbers).readAll()).toMatchObject([{ key: 'a', value: 99, timestamp: 30_000 }]);
    expect(driver.droppedRecords).toBe(0);
  });

  it('drop and count late records without a side output', async () => {
    const builder = new StreamsBuilder();
    readings(builder)
      .keyBy()
      .window(tumblingEventTime({ size: 10 }))
      .reduce((a, b) => a + b, { name: 'sum' })
      .to('sums');
    await using driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('readings', numbers);
    await input.pipe('a', 1, { timestamp: 5 });
    await input.pipe('a', 1, { timestamp: 20 });
    await input.pipe('a', 1, { timestamp: 6 });
    expect(driver.droppedByReason.get('late')).toBe(1);
  });

  it('join the sessions that a record bridges', async () => {
    const builder = new StreamsBuilder();
    readings(builder)
      .keyBy()
      .window(sessionEventTime({ gap: 10 }))
      .process((_key, values, { window }) => [`${window.start}-${window.end}: ${values.toSorted().join('+')}`], { name: 'sessions' })
      .map((text, key) => [key.key, text], texts)
      .to('sessions', texts);
    await using driver = new TopologyTestDriver(builder.build(), { autoCommit: false });
    const input = driver.inputTopic('readings', numbers);
    for (const timestamp of [0, 20, 10, 100]) await input.pipe('a', timestamp, { timestamp });
    await driver.commit();
    expect(driver.outputTopic('sessions', texts).readAll()).toMatchObject([{ key: 'a', value: '0-30: 0+10+20', timestamp: 29 }]);
  });

  it('by count need no watermarks', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('readings', numbers)
      .keyBy()
      .window(globalWindows(), { trigger: countTrigger(2) })
      .reduce((a, b) => a + b, { name: 'pairs' })
      .map((sum, key) => [key.key, sum], numbers)
      .to('pairs');
    await using driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('readings', numbers);
    for (const value of [1, 2, 4]) await input.pipe('a', value, { timestamp: value });
    expect(driver.outputTopic('pairs', numbers).readAll()).toMatchObject([{ key: 'a', value: 3, timestamp: 2 }]);
  });

  it('by the wall clock fire when it passes their end, also behind a repartition', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('readings', numbers)
      .keyBy((value): string => (value > 0 ? 'up' : 'down'), { name: 'by-sign', keySerde: serdes.string })
      .window(tumblingProcessingTime({ size: 1_000 }))
      .aggregate(mean, { name: 'mean', valueSerde: serdes.double })
      .to('means');
    await using driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('readings', numbers);
    const means = driver.outputTopic('means', { keySerde: timeWindowedSerde(serdes.string, 1_000), valueSerde: serdes.double });
    await input.pipe('a', 1, { timestamp: 7 });
    await input.pipe('b', 3, { timestamp: 9 });
    await driver.advanceWallClock(998);
    expect(means.isEmpty).toBe(true);
    await driver.advanceWallClock(1);
    expect(means.readAll().map(shown)).toEqual([['up', 0, 2, 999]]);
  });

  it('of event time that ended long ago by the wall clock fire once a look at it, not without end', async () => {
    const builder = new StreamsBuilder();
    readings(builder, 10_000)
      .keyBy()
      .window(tumblingEventTime({ size: 1_000 }), { trigger: continuousProcessingTimeTrigger(100) })
      .aggregate(mean, { name: 'mean', valueSerde: serdes.double })
      .to('means');
    await using driver = new TopologyTestDriver(builder.build(), { wallClock: 1_000_000 });
    const means = driver.outputTopic('means', { keySerde: timeWindowedSerde(serdes.string, 1_000), valueSerde: serdes.double });
    const input = driver.inputTopic('readings', numbers);
    await input.pipe('a', 1, { timestamp: 7 });
    await driver.advanceWallClock(100);
    await driver.advanceWallClock(100);
    expect(means.readAll().map(shown)).toEqual([['a', 0, 1, 999]]);
    // Nor for each record that comes later: the last time by the wall clock was the last.
    await input.pipe('a', 3, { timestamp: 8 });
    await driver.advanceWallClock(100);
    expect(means.readAll()).toEqual([]);
  });

  it('are refused where event time does not reach', () => {
    const builder = new StreamsBuilder();
    const window = tumblingEventTime({ size: 10 });
    expect(() =>
      builder
        .stream('plain', numbers)
        .keyBy()
        .window(window)
        .reduce((a, b) => a + b),
    ).toThrow(/has no `watermarks`/);
    const rekeyed = builder.stream('plain', numbers).keyBy(String, { name: 'by-value', keySerde: serdes.string });
    expect(() => rekeyed.window(window).reduce((a, b) => a + b)).toThrow(/its source KSTREAM-SOURCE-\d+ has no `watermarks`/);
    const counts = readings(builder)
      .groupBy((value) => String(value), numbers)
      .count()
      .groupBy((count, key) => [key, count], numbers)
      .count();
    const ofTable = counts.toStream().keyBy();
    expect(() => ofTable.window(window).reduce((a) => a)).toThrow(/internal topic .* of a table, and event time does not pass/);
  });
});

describe('watermarks in a task', () => {
  it('are the lowest over the partitions: a slow one keeps windows open', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream(['left', 'right'], { ...numbers, watermarks: watermarks.monotonous() })
      .keyBy()
      .window(tumblingEventTime({ size: 10 }))
      .reduce((a, b) => a + b, { name: 'sum', valueSerde: serdes.double })
      .to('sums');
    await using driver = new TopologyTestDriver(builder.build());
    const [left, right] = [driver.inputTopic('left', numbers), driver.inputTopic('right', numbers)];
    const sums = driver.outputTopic('sums', { keySerde: timeWindowedSerde(serdes.string, 10), valueSerde: serdes.double });
    await left.pipe('a', 1, { timestamp: 5 });
    await left.pipe('a', 1, { timestamp: 500 });
    await right.pipe('a', 1, { timestamp: 6 });
    expect(sums.isEmpty).toBe(true);
    await right.pipe('a', 1, { timestamp: 10 });
    expect(sums.readAll().map(shown)).toEqual([['a', 0, 2, 9]]);
  });

  it('leave an idle partition out after its timeout', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream(['left', 'right'], { ...numbers, watermarks: watermarks.monotonous({ idleness: 1_000 }) })
      .keyBy()
      .window(tumblingEventTime({ size: 10 }))
      .reduce((a, b) => a + b, { name: 'sum', valueSerde: serdes.double })
      .to('sums');
    await using driver = new TopologyTestDriver(builder.build());
    const sums = driver.outputTopic('sums', { keySerde: timeWindowedSerde(serdes.string, 10), valueSerde: serdes.double });
    await driver.inputTopic('left', numbers).pipe('a', 1, { timestamp: 5 });
    await driver.advanceWallClock(900);
    await driver.inputTopic('left', numbers).pipe('a', 1, { timestamp: 50 });
    expect(sums.isEmpty).toBe(true);
    await driver.advanceWallClock(200);
    expect(sums.readAll().map(shown)).toEqual([['a', 0, 1, 9]]);
  });

  it('can be made for each record out of its value', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('texts', {
        ...texts,
        watermarks: watermarks.custom<string>(() => ({
          onEvent: (timestamp, value, output) => {
            if (value === 'end') output.emit(timestamp);
          },
          onPeriodicEmit: () => undefined,
        })),
      })
      .keyBy()
      .window(tumblingEventTime({ size: 10 }))
      .process((_key, values) => [values.join(' ')], { name: 'words', valueSerde: serdes.string })
      .to('words');
    await using driver = new TopologyTestDriver(builder.build(), { autoCommit: false });
    const input = driver.inputTopic('texts', texts);
    const words = driver.outputTopic('words', { keySerde: timeWindowedSerde(serdes.string, 10), valueSerde: serdes.string });
    await input.pipe('a', 'one', { timestamp: 1 });
    await input.pipe('a', 'two', { timestamp: 25 });
    expect(words.isEmpty).toBe(true);
    await input.pipe('b', 'end', { timestamp: 9 });
    expect(words.readAll().map(shown)).toEqual([
      ['a', 0, 'one', 9],
      ['b', 0, 'end', 9],
    ]);
  });
});

describe('interval joins', () => {
  const joined = (builder: StreamsBuilder) => {
    const options = { ...texts, watermarks: watermarks.monotonous() };
    const [left, right] = [builder.stream('left', options).keyBy(), builder.stream('right', options).keyBy()];
    return left.intervalJoin(right, { lower: -1, upper: 1 }, (a, b, key) => `${key}: ${a} ${b}`, {
      name: 'join',
      valueSerde: serdes.string,
      sideOutputLate: true,
    });
  };

  it('meet records of one key that are near enough, and send late ones to the side', async () => {
    const builder = new StreamsBuilder();
    const { results, lateLeft, lateRight } = joined(builder);
    results.to('joined');
    lateLeft.to('late-left');
    lateRight.to('late-right');
    await using driver = new TopologyTestDriver(builder.build());
    const [left, right] = [driver.inputTopic('left', texts), driver.inputTopic('right', texts)];
    await left.pipe('k', 'l5', { timestamp: 5 });
    await right.pipe('k', 'r4', { timestamp: 4 });
    await right.pipe('other', 'r5', { timestamp: 5 });
    await right.pipe('k', 'r6', { timestamp: 6 });
    await right.pipe('k', 'r7', { timestamp: 7 });
    await left.pipe('k', 'l7', { timestamp: 7 });
    await left.pipe('k', 'l3', { timestamp: 3 });
    const out = driver.outputTopic('joined', texts).readAll();
    expect(out.map(({ value, timestamp }) => [value, timestamp])).toEqual([
      ['k: l5 r4', 5],
      ['k: l5 r6', 6],
      ['k: l7 r6', 7],
      ['k: l7 r7', 7],
    ]);
    expect(driver.outputTopic('late-left', texts).readAll()).toMatchObject([{ key: 'k', value: 'l3', timestamp: 3 }]);
    expect(driver.outputTopic('late-right', texts).isEmpty).toBe(true);
  });

  it('are refused when their exclusive bounds leave no time between them', () => {
    const builder = new StreamsBuilder();
    const options = { ...texts, watermarks: watermarks.monotonous() };
    const [left, right] = [builder.stream('left', options).keyBy(), builder.stream('right', options).keyBy()];
    expect(() =>
      left.intervalJoin(right, { lower: 0, upper: 1, lowerInclusive: false, upperInclusive: false }, (a, b) => a + b, { name: 'join' }),
    ).toThrow('An interval join needs a time between its bounds: 0 and 1, as exclusive as they are, leave none.');
  });

  it('need topics of equal partition counts', () => {
    const builder = new StreamsBuilder();
    joined(builder).results.to('joined');
    expect(() => new TopologyTestDriver(builder.build(), { partitions: { left: 2, right: 3 } })).toThrow(/MILL_TOPOLOGY_NOT_COPARTITIONED/);
  });
});

const pending = listState<string>('pending', { serde: serdes.string });
const last = valueState<number>('last', { serde: serdes.double, ttl: { ttl: 60_000 } });

/** Sends what a key has said when event time has come 100 ms further, and whether it was heard of within the last minute of the wall clock. */
class Digest implements KeyedProcessor<string, string, string, string> {
  declare private context: KeyedProcessorContext<string, string, string>;
  declare private words: ListState<string>;
  declare private last: ValueState<number>;

  init(context: KeyedProcessorContext<string, string, string>): void {
    this.context = context;
    this.words = context.state(pending);
    this.last = context.state(last);
  }

  process(record: Record<string, string>): void {
    const known = this.last.value() === null ? 'new' : 'known';
    this.last.update(record.timestamp);
    this.words.add(`${record.value} (${known})`);
    this.context.timers.registerEventTimer(record.timestamp + 100);
    this.context.timers.registerEventTimer(record.timestamp + 100);
  }

  onTimer({ key, kind, time }: FiredTimer<string>): void {
    void this.context.forward({ key, value: `${kind} ${time}: ${this.words.get().join(', ')}` });
    this.words.clear();
  }
}

/** Counts down: a timer for each record, in event time and by the clock. Keys that begin with `bad` fail in it, `badly` by promise. */
class Alarm implements KeyedProcessor<string, string, string, string> {
  declare private context: KeyedProcessorContext<string, string, string>;

  init(context: KeyedProcessorContext<string, string, string>): void {
    this.context = context;
  }

  process({ timestamp, value }: Record<string, string>): void {
    if (value === 'clock') this.context.timers.registerProcessingTimer(this.context.wallClock() + 100);
    else this.context.timers.registerEventTimer(timestamp + 100);
  }

  async onTimer({ key, kind }: FiredTimer<string>): Promise<void> {
    if (key === 'badly') await Promise.reject(new RangeError('no luck'));
    await this.context.forward({ key, value: kind });
  }
}

/** The same, without promises. */
class PlainAlarm extends Alarm {
  override onTimer({ key, kind }: FiredTimer<string>): never {
    if (key.startsWith('bad')) throw new RangeError('no luck');
    return super.onTimer({ key, kind, time: 0 }) as never;
  }
}

describe('a timer that fails', () => {
  const open = (config: TestDriverConfig, supplier: () => Alarm = () => new PlainAlarm()): TopologyTestDriver => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', { ...texts, watermarks: watermarks.monotonous() })
      .keyBy()
      .process(supplier, { name: 'alarm', ...texts })
      .to('out');
    return new TopologyTestDriver(builder.build(), { autoCommit: false, ...config });
  };
  const rung = (driver: TopologyTestDriver): string[] =>
    driver
      .outputTopic('out', texts)
      .readAll()
      .map(({ key, value }) => `${key} ${value}`);

  it.each([
    ['at once', () => new PlainAlarm()],
    ['by promise', () => new Alarm()],
  ])('%s, asks the processing handler; the timers behind it fire', async (_how, supplier) => {
    const asked: unknown[] = [];
    const processingHandler: ProcessingHandler = (error, { node, topic, timestamp }) => {
      asked.push([error.message, node, topic, timestamp]);
      return 'continue';
    };
    await using driver = open({ processingHandler }, supplier);
    const input = driver.inputTopic('in', texts);
    for (const key of ['a', 'badly', 'c']) await input.pipe(key, 'x', { timestamp: 0 });
    await input.pipe('end', 'x', { timestamp: 500 });
    await driver.commit();
    expect(rung(driver)).toEqual(['a event', 'c event']);
    expect(asked).toEqual([['no luck', 'alarm', null, 499]]);
  });

  it.each([
    ['at once', () => new PlainAlarm()],
    ['by promise', () => new Alarm()],
  ])('%s, does not stop the clock of those behind it', async (_how, supplier) => {
    await using driver = open({ processingHandler: 'continue' }, supplier);
    const input = driver.inputTopic('in', texts);
    for (const key of ['badly', 'c']) await input.pipe(key, 'clock', { timestamp: 0 });
    await driver.advanceWallClock(100);
    await driver.advanceWallClock(100);
    await driver.commit();
    expect(rung(driver)).toEqual(['c processing']);
  });

  it('stops the app unless the handler says otherwise, and is named', async () => {
    await using driver = open({});
    const input = driver.inputTopic('in', texts);
    await input.pipe('bad', 'x', { timestamp: 0 });
    await expect(input.pipe('end', 'x', { timestamp: 500 }).then(() => driver.commit())).rejects.toMatchObject({
      code: 'MILL_PROCESSING',
      details: { node: 'alarm', topic: null },
    });
  });
});

describe('keyed processors', () => {
  const digests = (options: { readonly watermarks: boolean }) => {
    const builder = new StreamsBuilder();
    builder
      .stream('texts', { ...texts, ...(options.watermarks ? { watermarks: watermarks.monotonous() } : {}) })
      .keyBy()
      .process(() => new Digest(), { name: 'digest', states: [pending, last], ...texts })
      .to('digests');
    return builder.build();
  };

  it('see the state of the current key alone, and are called for their timers', async () => {
    await using driver = new TopologyTestDriver(digests({ watermarks: true }));
    const input = driver.inputTopic('texts', texts);
    await input.pipe('a', 'x', { timestamp: 0 });
    await input.pipe('b', 'y', { timestamp: 10 });
    await input.pipe('a', 'z', { timestamp: 20 });
    await driver.advanceWallClock(60_000);
    await input.pipe('a', 'w', { timestamp: 101 });
    await input.pipe('b', 'v', { timestamp: 111 });
    const out = driver.outputTopic('digests', texts).readAll();
    expect(out.map(({ key, value, timestamp }) => [key, value, timestamp])).toEqual([
      ['a', 'event 100: x (new), z (known), w (new)', 100],
      ['b', 'event 110: y (new), v (new)', 110],
    ]);
  });

  it('fire many timers in portions, in order, before the next record', async () => {
    await using driver = new TopologyTestDriver(digests({ watermarks: true }), { autoCommit: false });
    const input = driver.inputTopic('texts', texts);
    for (let i = 0; i < 3_500; i++) await input.pipe(`k${String(i).padStart(4, '0')}`, 'x', { timestamp: 0 });
    await input.pipe('end', 'x', { timestamp: 500 });
    await driver.commit();
    const keys = driver
      .outputTopic('digests', texts)
      .readAll()
      .map(({ key }) => key);
    expect(keys).toHaveLength(3_500);
    expect(keys).toEqual(keys.toSorted());
  });

  it('are told when no event time will ever come', async () => {
    await using driver = new TopologyTestDriver(digests({ watermarks: false }));
    await expect(driver.inputTopic('texts', texts).pipe('a', 'x')).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
  });

  it('must declare their states, each name once', () => {
    const stream = new StreamsBuilder().stream('texts', texts).keyBy();
    expect(() => stream.process(() => new Digest(), { states: [last, valueState('last')] })).toThrow(/declares state last twice/);
  });
});

function shown({ key, value, timestamp }: { key: Windowed<string> | null; value: unknown; timestamp: number }): unknown[] {
  return [key?.key, key?.window.start, value, timestamp];
}

describe('a session that grows', () => {
  it('gives the values of sessions that became one session by session, whichever was touched last', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', { ...texts, watermarks: watermarks.monotonous() })
      .keyBy()
      .window(sessionEventTime({ gap: 10 }), { allowedLateness: 100 })
      .process((_key, values) => [values.join(' ')], { name: 'visits', valueSerde: serdes.string })
      .map((text, { key }) => [key, text], texts)
      .to('visits');
    await using driver = new TopologyTestDriver(builder.build(), { autoCommit: false });
    const input = driver.inputTopic('in', texts);
    for (const timestamp of [0, 3, 30, 33, 8, 16, 25]) await input.pipe('a', `t${timestamp}`, { timestamp });
    await input.pipe('end', 'x', { timestamp: 500 });
    await driver.commit();
    expect(driver.outputTopic('visits', texts).readAll()).toMatchObject([{ key: 'a', value: 't0 t3 t8 t16 t30 t33 t25' }]);
  });

  it('writes its changelog once an epoch, and nothing of the timers that it has set and deleted', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', { ...numbers, watermarks: watermarks.monotonous() })
      .keyBy()
      .window(sessionEventTime({ gap: 1_000 }))
      .reduce((a, b) => a + b, { name: 'sum' });
    await using driver = new TopologyTestDriver(builder.build(), { autoCommit: false });
    const changelog = driver.outputTopic('test-sum-state-changelog', { keySerde: serdes.bytes, valueSerde: serdes.bytes });
    const input = driver.inputTopic('in', numbers);
    for (const epoch of [0, 1]) {
      for (let n = 0; n < 100; n++) await input.pipe('a', 1, { timestamp: epoch * 100 + n });
      await driver.commit();
      // Contents, the list of sessions, the timer; in the second epoch the old timer goes.
      expect(changelog.readAll()).toHaveLength(3 + epoch);
    }
  });
});
