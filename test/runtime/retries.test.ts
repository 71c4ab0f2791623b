/** The answer `retry`: what is done again where it failed, what goes back to the last commit, and when it ends. */
import { describe, expect, it } from '@jest/globals';
import type { KStream } from '../../src/dsl/kstream.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { defaultRetry, type ErrorPolicy, type FailedRecord, type HandlerRetryOptions } from '../../src/runtime/error-policy.js';
import { RetryLedger } from '../../src/runtime/retry-ledger.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { Processor, ProcessorContext } from '../../src/processors/processor.js';
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

describe('the count of failures', () => {
  it('is bounded, and forgets failures of timers with a commit', () => {
    const ledger = new RetryLedger();
    ledger.set('timer', 2, true);
    ledger.set('record', 2, false);
    ledger.committed();
    expect([ledger.count('timer'), ledger.count('record')]).toEqual([0, 2]);
    for (let i = 0; i < 1000; i++) ledger.set(`r${i}`, 1, false);
    expect([ledger.count('record'), ledger.count('r0'), ledger.count('r999')]).toEqual([0, 1, 1]);
  });
});
