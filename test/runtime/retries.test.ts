/** The answer `retry`: what is done again where it failed, what goes back to the last commit, and when it ends. */
import { describe, expect, it } from '@jest/globals';
import type { KStream } from '../../src/dsl/kstream.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { defaultRetry, type ErrorPolicy, type FailedRecord, type HandlerRetryOptions } from '../../src/runtime/error-policy.js';
import { RetryLedger } from '../../src/runtime/retry-ledger.js';
import { serdes } from '../../src/serdes/serdes.js';
import { stores } from '../../src/stores/stores.js';
import type { MaybeAsync } from '../../src/bytes/maybe-async.js';
import type { Processor, ProcessorContext, Record as KeyedRecord } from '../../src/processors/processor.js';
import { TaskRig } from './harness/task-rig.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** Fails the first `times` times it is asked about `bad`. */
class Flaky {
  calls = 0;

  constructor(private readonly times: number) {}

  readonly map = (value: string): string => {
    if (value !== 'bad') return value;
    if (this.calls++ < this.times) throw new Error(`failure ${this.calls}`);
    return 'mended';
  };
}

interface Options {
  readonly retry?: HandlerRetryOptions;
  readonly errors?: Partial<ErrorPolicy>;
  readonly retries?: RetryLedger;
}

async function open(declare: (stream: KStream<string, string>) => void, { retry, errors, retries }: Options) {
  const builder = new StreamsBuilder();
  declare(builder.stream('in', text));
  const pauses: number[] = [];
  const pause = (ms: number): Promise<void> => {
    pauses.push(ms);
    return Promise.resolve();
  };
  const rig = await TaskRig.open(builder.build(), {
    errors: { deadLetterTopic: 'dlq', ...errors, retry: { ...defaultRetry, ...retry } },
    env: { pause, ...(retries === undefined ? {} : { retries }) },
  });
  return { rig, pauses };
}

const mapped =
  (map: (value: string) => string | Promise<string>) =>
  (stream: KStream<string, string>): void => {
    stream.mapValues(map, { name: 'map', valueSerde: serdes.string }).to('out', text);
  };

describe('retry of a node without stores', () => {
  it('calls it again after pauses that double, and goes on where it was', async () => {
    const flaky = new Flaky(3);
    const { rig, pauses } = await open(mapped(flaky.map), { errors: { processing: 'retry' } });
    for (const value of ['a', 'bad', 'b']) rig.pipe('in', 'k', value, 5);
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=a@5', 'k=mended@5', 'k=b@5']);
    expect(pauses).toEqual([100, 200, 400]);
    expect(rig.metrics.retries).toBe(3);
  });

  it('pauses no longer than told', async () => {
    const { rig, pauses } = await open(mapped(new Flaky(4).map), {
      errors: { processing: 'retry' },
      retry: { attempts: 4, backoff: 10, maxBackoff: 25 },
    });
    rig.pipe('in', 'k', 'bad');
    await rig.run();
    expect(pauses).toEqual([10, 20, 25, 25]);
  });

  it('takes no other record of the task meanwhile', async () => {
    const flaky = new Flaky(1);
    const { rig } = await open(mapped(flaky.map), { errors: { processing: 'retry' } });
    rig.pipe('in', 'k', 'bad');
    rig.pipe('in', 'k', 'next');
    rig.task.run(Infinity);
    expect(rig.task.isBusy).toBe(true);
    expect(rig.task.run(Infinity)).toBe(0);
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=mended@0', 'k=next@0']);
  });

  it.each([
    ['rejects', (flaky: Flaky) => (value: string) => Promise.resolve(value).then(flaky.map)],
    ['throws', (flaky: Flaky) => flaky.map],
  ])('that %s', async (_what, mapOf) => {
    const { rig } = await open(mapped(mapOf(new Flaky(2))), { errors: { processing: 'retry' } });
    rig.pipe('in', 'k', 'bad');
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=mended@0']);
  });

  it('a handler hears how often it has failed, and decides each time', async () => {
    const seen: number[] = [];
    const processing = (_error: Error, { attempt }: FailedRecord) => (seen.push(attempt), attempt < 3 ? 'retry' : 'continue');
    const { rig } = await open(mapped(new Flaky(9).map), { errors: { processing } });
    rig.pipe('in', 'k', 'bad');
    rig.pipe('in', 'k', 'next');
    await rig.run();
    expect(seen).toEqual([1, 2, 3]);
    expect(rig.lines('out')).toEqual(['k=next@0']);
  });

  it.each([
    ['fail', { error: { code: 'MILL_PROCESSING', message: expect.stringContaining('tried 4 times') }, dlq: [] }],
    ['continue', { error: null, dlq: [] }],
    ['deadLetter', { error: null, dlq: ['k=bad@0'] }],
  ] as const)('ends after its attempts, with %s when told so', async (afterwards, expected) => {
    const flaky = new Flaky(9);
    const { rig } = await open(mapped(flaky.map), { errors: { processing: 'retry' }, retry: { afterwards } });
    rig.pipe('in', 'k', 'bad');
    const error: unknown = await rig.run().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (expected.error === null) expect(error).toBeNull();
    else expect(error).toMatchObject(expected.error);
    expect(flaky.calls).toBe(4);
    expect(rig.lines('dlq')).toEqual(expected.dlq);
  });

  it('that has passed something on is not called again: the epoch goes back to the last commit', async () => {
    const { rig } = await open(
      (stream) => {
        stream
          .flatMapValues(
            function* (value) {
              yield value;
              throw new Error('half done');
            },
            { name: 'half', valueSerde: serdes.string },
          )
          .to('out', text);
      },
      { errors: { processing: 'retry' } },
    );
    rig.pipe('in', 'k', 'v');
    await expect(rig.run()).rejects.toMatchObject({ code: 'MILL_RETRY', details: { node: 'half', attempt: 1, retryInMs: 100 } });
  });

  it('when the task has rested for as long as a transaction bears: the epoch goes back to the last commit', async () => {
    const { rig, pauses } = await open(mapped(new Flaky(3).map), { errors: { processing: 'retry', retryBudgetMs: 250 } });
    rig.pipe('in', 'k', 'bad');
    await expect(rig.run()).rejects.toMatchObject({ code: 'MILL_RETRY' });
    expect(pauses).toEqual([100]);
  });

  it('has that time anew in the next epoch', async () => {
    const one = new Flaky(1);
    const { rig } = await open(mapped(one.map), { errors: { processing: 'retry', retryBudgetMs: 150 } });
    rig.pipe('in', 'k', 'bad');
    await rig.run();
    await rig.commit();
    one.calls = 0;
    rig.pipe('in', 'k', 'bad');
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=mended@0', 'k=mended@0']);
  });

  it('a task that is closed meanwhile calls nobody', async () => {
    const flaky = new Flaky(1);
    let goOn = (): void => undefined;
    const { rig } = await open(mapped(flaky.map), {
      errors: { processing: () => new Promise((resolve) => (goOn = () => resolve('retry'))) },
    });
    rig.pipe('in', 'k', 'bad');
    rig.task.run(Infinity);
    await rig.task.close();
    goOn();
    await expect(rig.task.settled()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
    expect(flaky.calls).toBe(1);
  });
});

describe('retry of a node with stores', () => {
  const counted =
    (reduce: (total: string, value: string) => string) =>
    (stream: KStream<string, string>): void => {
      stream.groupByKey().reduce(reduce, { name: 'sum' }).toStream().to('out', text);
    };
  const failing = counted((_total, value) => {
    throw new Error(`no ${value}`);
  });

  it('goes back to the last commit, since it may have changed half of its state', async () => {
    const { rig, pauses } = await open(failing, { errors: { processing: 'retry' } });
    rig.pipe('in', 'k', 'a');
    rig.pipe('in', 'k', 'b');
    await expect(rig.run()).rejects.toMatchObject({
      code: 'MILL_RETRY',
      details: { node: 'sum', topic: 'in', partition: 0, offset: 1, retryInMs: 100 },
    });
    expect(pauses).toEqual([]);
  });

  it('counts over those returns, and ends after its attempts', async () => {
    const retries = new RetryLedger();
    const pauses: unknown[] = [];
    for (let pass = 1; pass <= 3; pass++) {
      const { rig } = await open(failing, { errors: { processing: 'retry' }, retries });
      rig.pipe('in', 'k', 'a');
      rig.pipe('in', 'k', 'b');
      const error = await rig.run().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'MILL_RETRY', details: { attempt: pass } });
      pauses.push((error as { details: { retryInMs: number } }).details.retryInMs);
    }
    expect(pauses).toEqual([100, 200, 400]);
    const { rig } = await open(failing, { errors: { processing: 'retry' }, retries, retry: { afterwards: 'deadLetter' } });
    rig.pipe('in', 'k', 'a');
    rig.pipe('in', 'k', 'b');
    await rig.run();
    expect(rig.lines('dlq')).toEqual(['k=b@0']);
  });
});

describe('retry of serdes', () => {
  const flakySerde = (times: number) => {
    let calls = 0;
    return {
      name: 'flaky',
      serialize: (value: string): Buffer => {
        if (value === 'bad' && calls++ < times) throw new Error('not yet');
        return Buffer.from(value);
      },
      deserialize: (bytes: Buffer): string => {
        if (String(bytes) === 'bad' && calls++ < times) throw new Error('not yet');
        return String(bytes);
      },
    };
  };

  it('reads an input record again', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', { keySerde: serdes.string, valueSerde: flakySerde(2) }).to('out', text);
    const rig = await TaskRig.open(builder.build(), { errors: { deserialization: 'retry' }, env: { pause: () => Promise.resolve() } });
    rig.pipe('in', 'k', 'bad', 3);
    rig.pipe('in', 'k', 'next', 4);
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=bad@3', 'k=next@4']);
    expect(rig.metrics.deserializationErrors).toBe(2);
  });

  it('reads it again for a timestamp extractor too', async () => {
    const builder = new StreamsBuilder();
    const timestampExtractor = { name: 'late', extract: ({ timestamp }: { timestamp: number }) => timestamp + 100 };
    builder.stream('in', { keySerde: serdes.string, valueSerde: flakySerde(2), timestampExtractor }).to('out', text);
    const rig = await TaskRig.open(builder.build(), { errors: { deserialization: 'retry' }, env: { pause: () => Promise.resolve() } });
    rig.pipe('in', 'k', 'bad', 3);
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=bad@103']);
  });

  it('writes an output record again', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', text).to('out', { keySerde: serdes.string, valueSerde: flakySerde(2) });
    const rig = await TaskRig.open(builder.build(), { errors: { production: 'retry' }, env: { pause: () => Promise.resolve() } });
    rig.pipe('in', 'k', 'bad', 3);
    rig.pipe('in', 'k', 'next', 4);
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=bad@3', 'k=next@4']);
  });

  it('asks a topic extractor again', async () => {
    let calls = 0;
    const builder = new StreamsBuilder();
    builder.stream('in', text).to(() => (calls++ < 2 ? '' : 'out'), text);
    const rig = await TaskRig.open(builder.build(), { errors: { production: 'retry' }, env: { pause: () => Promise.resolve() } });
    rig.pipe('in', 'k', 'v');
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=v@0']);
  });
});

class Timed implements Processor<string, string, string, string> {
  private failures = 0;

  constructor(private readonly times: number) {}

  init(context: ProcessorContext<string, string>): void {
    context.schedule({ interval: 10, time: 'wallClock' }, () => {
      if (this.failures++ < this.times) throw new Error('timer');
      return context.forward({ key: 'timer', value: 'fired' });
    });
  }

  process(): void {
    // Only the timer does something.
  }
}

/** Maps what does not come from a source. */
class Mapping implements Processor<string, string, string, string> {
  private context: ProcessorContext<string, string> | null = null;

  constructor(private readonly map: (value: string) => string) {}

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
  }

  process({ key, value }: KeyedRecord<string, string>): MaybeAsync {
    return this.context?.forward({ key, value: this.map(value) });
  }
}

describe('timers', () => {
  const timed = (times: number, processing: ErrorPolicy['processing']) =>
    open((stream) => stream.process(() => new Timed(times), { name: 'timed', ...text }).to('out', text), { errors: { processing } });

  it('are tried again too', async () => {
    const { rig, pauses } = await timed(2, 'retry');
    rig.now = 10;
    rig.task.punctuate(10);
    await rig.task.settled();
    expect(rig.lines('out')).toEqual(['timer=fired@10']);
    expect(pauses).toEqual([100, 200]);
  });

  const throwing = (): never => {
    throw new Error('map');
  };
  it.each([
    ['fails', Infinity, (value: string) => value],
    ['goes well and a node behind it fails', 0, throwing],
  ])('of the wall clock whose callback %s keep their tries over the commits until they fire again', async (_what, times, map) => {
    const retries = new RetryLedger();
    const asked: number[] = [];
    const processing = (_error: Error, { attempt }: FailedRecord) => {
      asked.push(attempt);
      return 'retry' as const;
    };
    const kept = { stores: [stores.keyValue({ name: 's', ...text })] };
    const declare = (stream: KStream<string, string>): void =>
      stream
        .process(() => new Timed(times), { name: 'timed', ...kept, ...text })
        .process(() => new Mapping(map), { name: 'map', ...kept, ...text })
        .to('out', text);
    for (const expected of ['MILL_RETRY', 'MILL_RETRY', undefined]) {
      const { rig } = await open(declare, { errors: { processing }, retry: { attempts: 2, afterwards: 'continue' }, retries });
      for (let epoch = 0; epoch < 3; epoch++) {
        rig.pipe('in', 'k', 'v');
        await rig.run();
        await rig.commit();
        retries.committed();
      }
      rig.now = 10;
      const fire = async (): Promise<void> => {
        rig.task.punctuate(10);
        await rig.task.settled();
      };
      const error = await fire().catch((thrown: unknown) => thrown);
      expect((error as { readonly code?: string } | undefined)?.code).toBe(expected);
    }
    expect(asked).toEqual([1, 2, 3]);
  });

  it('of the wall clock that went well at last have all their tries the next time', async () => {
    const retries = new RetryLedger();
    const place = { taskId: '0_0', node: 'timed', topic: null, partition: -1, offset: -1, timer: 'timed timer 0', call: 0 };
    retries.failed(place, 2);
    retries.timerEnded('0_0', 'another');
    retries.barrier('0_0', () => false, true);
    retries.committed();
    expect(retries.count(place)).toBe(2);
    retries.timerEnded('0_0', 'timed timer 0');
    retries.barrier('0_0', () => false, true);
    retries.committed();
    expect(retries.count(place)).toBe(0);
  });

  it('that fail leave a dead letter without key and value, which names the node', async () => {
    const { rig } = await timed(1, 'deadLetter');
    rig.now = 10;
    rig.task.punctuate(10);
    await rig.task.settled();
    const [letter] = rig.written('dlq');
    const headers = Object.fromEntries((letter?.headers ?? []).map(({ key, value }) => [key, String(value)]));
    expect(letter).toMatchObject({ key: null, value: null, timestamp: 10 });
    expect(headers).toMatchObject({ '__streams.errors.topic': '', '__streams.errors.offset': '-1', '__millrace.errors.node': 'timed' });
  });
});

describe('several failures that go back to the last commit', () => {
  const counting =
    (calls: Record<string, number>, times: number) =>
    (stream: KStream<string, string>): void => {
      stream
        .flatMapValues((value) => value.split(','), { name: 'split', valueSerde: serdes.string })
        .process(() => new Counting(calls, times), { name: 'p', stores: [stores.keyValue({ name: 's', ...text })], ...text })
        .to('out', text);
    };

  /** Runs the task as a thread does: after MILL_RETRY it is opened anew at its last commit. Returns the lines of the pass that got through. */
  async function passes(values: readonly string[], declare: (stream: KStream<string, string>) => void, options: Options) {
    const retries = options.retries ?? new RetryLedger();
    for (let pass = 1; pass <= 200; pass++) {
      const { rig } = await open(declare, { ...options, retries });
      for (const value of values) rig.pipe('in', 'k', value);
      const error = await rig.run().catch((thrown: unknown) => thrown);
      if (error === undefined) return { pass, rig, retries };
      expect(error).toMatchObject({ code: 'MILL_RETRY' });
    }
    throw new Error('it does not end');
  }

  it.each([2, 5, 12])('of %d bad records: each has its tries once, however many there are', async (n) => {
    const calls: Record<string, number> = {};
    const values = [...Array.from({ length: n }, (_, index) => `bad${index}`), 'good'];
    const { pass, rig } = await passes(values, counting(calls, Infinity), {
      errors: { processing: 'retry' },
      retry: { afterwards: 'continue' },
    });
    expect(pass).toBe(3 * n + 1);
    expect(calls[`bad${n - 1}`]).toBe(4);
    expect(rig.lines('out')).toEqual(['k=good@0']);
    expect(rig.commitsRequested).toBeGreaterThan(0);
  });

  it('a record that was given up is given up at once in the next pass, and its dead letter is of that pass', async () => {
    const asked: string[] = [];
    const processing = (_error: Error, { value, attempt }: FailedRecord & { value: unknown }) => {
      asked.push(`${String(value)} ${attempt}`);
      return attempt <= 2 ? 'retry' : 'deadLetter';
    };
    const { rig } = await passes(['bad1', 'bad2'], counting({}, Infinity), { errors: { processing } });
    expect(asked).toEqual(['bad1 1', 'bad1 2', 'bad1 3', 'bad2 1', 'bad2 2', 'bad2 3']);
    expect(rig.lines('dlq')).toEqual(['k=bad1@0', 'k=bad2@0']);
  });

  it('a commit is asked for right behind it, and no further record is taken before', async () => {
    const retries = new RetryLedger();
    const options = { errors: { processing: 'retry' }, retry: { attempts: 1, afterwards: 'continue' }, retries } as const;
    for (const expected of ['MILL_RETRY', null]) {
      const { rig } = await open(counting({}, Infinity), options);
      for (const value of ['bad', 'good']) rig.pipe('in', 'k', value);
      const run = (): number => rig.task.run(Infinity);
      if (expected === null) {
        expect(run()).toBe(1);
        expect(rig.commitsRequested).toBe(1);
      } else expect(run).toThrow(expect.objectContaining({ code: expected }));
    }
  });

  it('records that one input record was split into have tries of their own', async () => {
    const asked: string[] = [];
    const processing = (_error: Error, { value, attempt }: FailedRecord & { value: unknown }) => {
      asked.push(`${String(value)} ${attempt}`);
      return attempt <= 2 ? 'retry' : 'continue';
    };
    const { rig } = await passes(['bada,badb,badc,badd'], counting({}, 1), { errors: { processing } });
    expect(asked).toEqual(['bada 1', 'badb 1', 'badc 1', 'badd 1']);
    expect(rig.lines('out')).toEqual(['k=bada@0', 'k=badb@0', 'k=badc@0', 'k=badd@0']);
  });

  it('results sent at a commit have tries of their own', async () => {
    const asked: string[] = [];
    const processing = (_error: Error, { key, attempt }: FailedRecord & { key: unknown }) => {
      asked.push(`${String(key)} ${attempt}`);
      return attempt <= 2 ? 'retry' : 'continue';
    };
    const failed = new Set<string>();
    const declare = (stream: KStream<string, string>): void => {
      stream
        .groupByKey()
        .reduce((_total, value) => value, { name: 'last', emit: 'onCommit' })
        .toStream()
        .process(
          () => ({
            process: ({ key }): void => {
              if (failed.has(key)) return;
              failed.add(key);
              throw new Error('once');
            },
          }),
          { name: 'p', stores: [stores.keyValue({ name: 's', ...text })], ...text },
        );
    };
    const retries = new RetryLedger();
    for (let pass = 1; pass <= 4; pass++) {
      const { rig } = await open(declare, { errors: { processing }, retries });
      for (const key of ['a', 'b', 'c']) rig.pipe('in', key, 'v');
      await rig.run();
      const error = await rig.commit().catch((thrown: unknown) => thrown);
      if (pass < 4) expect(error).toMatchObject({ code: 'MILL_RETRY' });
    }
    expect(asked).toEqual(['a 1', 'b 1', 'c 1']);
  });

  it('an epoch with more bad records than are remembered gets through: those beyond are not tried again', async () => {
    const calls: Record<string, number> = {};
    const values = [...Array.from({ length: 2000 }, (_, index) => `bad${index}`), 'good'];
    const { pass, rig } = await passes(values, counting(calls, Infinity), {
      errors: { processing: 'retry' },
      retry: { attempts: 1, afterwards: 'continue' },
      retries: new RetryLedger(10),
    });
    expect(pass).toBe(11);
    expect([calls['bad9'], calls['bad10'], calls['bad1999']]).toEqual([2, 1, 1]);
    expect(rig.lines('out')).toEqual(['k=good@0']);
  });
});

class Counting implements Processor<string, string, string, string> {
  declare private context: ProcessorContext<string, string>;

  /** Values that begin with `bad` fail the first `times` times. */
  constructor(
    private readonly calls: Record<string, number>,
    private readonly times: number,
  ) {}

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
  }

  process({ key, value }: { key: string; value: string }): void {
    const { calls } = this;
    calls[value] = (calls[value] ?? 0) + 1;
    if (value.startsWith('bad') && calls[value] <= this.times) throw new Error(`no ${value}`);
    void this.context.forward({ key, value });
  }
}

describe('the memory of failures', () => {
  const place = (offset: number, taskId = '0_0') => ({ taskId, node: 'n', topic: 'in', partition: 0, offset, timer: null, call: 0 });
  const timer = { ...place(-1), topic: null };
  const upTo = (end: number) => (_topic: string, _partition: number, offset: number) => offset < end;

  it('ends with the commit of the epoch that has the fate of the record, not before', () => {
    const ledger = new RetryLedger();
    ledger.failed(place(1), 2);
    ledger.failed(place(7), 1);
    ledger.giveUp(place(1), 'continue');
    ledger.committed();
    expect(ledger.givenUp(place(1))).toBe('continue');
    ledger.barrier('0_0', upTo(5), true);
    expect(ledger.givenUp(place(1))).toBe('continue');
    ledger.committed();
    expect([ledger.count(place(1)), ledger.givenUp(place(1)), ledger.count(place(7))]).toEqual([0, null, 1]);
  });

  it('outlives an epoch that is lost on its way to being committed', () => {
    const ledger = new RetryLedger();
    ledger.failed(place(1), 2);
    ledger.giveUp(place(1), 'deadLetter');
    ledger.barrier('0_0', upTo(5), true);
    ledger.opened('0_0');
    ledger.committed();
    expect([ledger.count(place(1)), ledger.givenUp(place(1))]).toEqual([2, 'deadLetter']);
  });

  it('of asynchronous calls ends when they have: the input is past their records before', () => {
    const ledger = new RetryLedger();
    ledger.failed(place(1), 2);
    ledger.barrier('0_0', upTo(5), false);
    ledger.committed();
    expect(ledger.count(place(1))).toBe(2);
    ledger.barrier('0_0', upTo(5), true);
    ledger.committed();
    expect(ledger.count(place(1))).toBe(0);
  });

  it('of timers ends with the next commit of their task', () => {
    const ledger = new RetryLedger();
    ledger.failed(timer, 2);
    ledger.barrier('0_1', upTo(5), true);
    ledger.committed();
    expect(ledger.count(timer)).toBe(2);
    ledger.barrier('0_0', upTo(5), true);
    ledger.committed();
    expect(ledger.count(timer)).toBe(0);
  });

  it('is bounded: nothing undecided is forgotten, what is beyond is not tried again', () => {
    const ledger = new RetryLedger(2);
    expect([1, 2, 3].map((offset) => ledger.failed(place(offset), 1))).toEqual([true, true, false]);
    expect([1, 2, 3].map((offset) => ledger.count(place(offset)))).toEqual([1, 1, 0]);
    ledger.barrier('0_0', upTo(2), false);
    expect(ledger.failed(place(3), 1)).toBe(true);
    expect([1, 2, 3].map((offset) => ledger.count(place(offset)))).toEqual([0, 1, 1]);
    ledger.left('0_0');
    expect([4, 5, 6].map((offset) => ledger.failed(place(offset, '0_1'), 1))).toEqual([true, true, false]);
  });
});
