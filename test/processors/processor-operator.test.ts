import { describe, expect, it } from '@jest/globals';
import { noHeaders } from '../../src/bytes/headers.js';
import { processorOperator } from '../../src/processors/processor-operator.js';
import type { Processor, ProcessorContext, Record } from '../../src/processors/processor.js';
import { FakeKeyValueStore } from './harness/fake-stores.js';
import { OperatorHarness, type HarnessOptions } from './harness/operator-harness.js';

type Body = (record: Record<string, string>, context: ProcessorContext<string, string>) => void | Promise<void>;

const run = (body: Body, init: (context: ProcessorContext<string, string>) => void = () => undefined, options: HarnessOptions = {}) => {
  let context: ProcessorContext<string, string>;
  const processor: Processor<string, string, string, string> = {
    init: (given) => {
      context = given;
      init(given);
    },
    process: (record) => body(record, context),
  };
  const harness = new OperatorHarness(
    processorOperator(() => processor),
    options,
  );
  return harness;
};
const header = (key: string) => ({ key, value: Buffer.from('1') });

describe('processor', () => {
  it('gets the whole record, and what it does not change is forwarded as it was', () => {
    const harness = run((record, context) => context.forward({ key: record.key, value: record.value.toUpperCase() }));
    const headers = [header('h')];
    expect(harness.pipe('k', 'v', 17, headers)).toBeUndefined();
    expect(harness.output.sent).toEqual([{ key: 'k', value: 'V', timestamp: 17, headers }]);
  });

  it('may change time and headers of what it forwards', () => {
    const harness = run((record, context) => {
      void context.forward({ ...record, timestamp: 99, headers: [header('new')] });
      void context.forward(record);
    });
    void harness.pipe('k', 'v', 17, [header('old')]);
    expect(harness.output.sent.map(({ timestamp, headers }) => [timestamp, headers[0]?.key])).toEqual([
      [99, 'new'],
      [17, 'old'],
    ]);
  });

  it('may forward to one child by its name', () => {
    const harness = run((record, context) => context.forward(record, 'left'), undefined, { children: ['left', 'right'] });
    void harness.pipe('k', 'v', 1);
    expect(harness.outOf('left')).toEqual([['k', 'v', 1]]);
    expect(harness.outOf('right')).toEqual([]);
    expect(harness.out).toEqual([]);
  });

  it('a child that is not there is an error', () => {
    const harness = run((record, context) => context.forward(record, 'nobody'));
    expect(() => harness.pipe('k', 'v')).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID' }));
  });

  it('forwards that nobody awaits still leave in order, and the record waits for them', async () => {
    const harness = run((_record, context) => {
      for (const value of ['a', 'b', 'c']) void context.forward({ key: 'k', value });
    });
    harness.output.slow = true;
    await harness.pipeAll([
      ['k', '1'],
      ['k', '2'],
    ]);
    expect(harness.out.map(([, value]) => value)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('an async processor forwards when it is ready', async () => {
    const harness = run(async (record, context) => {
      await Promise.resolve();
      await context.forward({ key: record.key, value: `${record.value}!` });
    });
    await harness.pipeAll([['k', 'v', 3]]);
    expect(harness.out).toEqual([['k', 'v!', 3]]);
  });

  it('its error wins over that of a forward, and comes after the forwards have ended', async () => {
    const harness = run((record, context) => {
      void context.forward(record);
      throw new Error('mine');
    });
    harness.output.slow = true;
    await expect(harness.pipe('k', 'v')).rejects.toThrow('mine');
    await expect(harness.pipe('k', 'w')).rejects.toThrow('mine');
    expect(harness.out).toHaveLength(2);
  });

  it('nothing can be forwarded outside of a record or a punctuation', () => {
    let kept: ProcessorContext<string, string> | null = null;
    run(
      () => undefined,
      (context) => {
        kept = context;
      },
    );
    expect(() => kept!.forward({ key: 'k', value: 'v' })).toThrow(expect.objectContaining({ code: 'MILL_STATE_INVALID' }));
  });

  it('a negative timestamp is refused', () => {
    const harness = run((record, context) => context.forward({ ...record, timestamp: -5 }));
    expect(() => harness.pipe('k', 'v')).toThrow(expect.objectContaining({ code: 'MILL_INVALID_TIMESTAMP' }));
  });

  it('punctuations forward with the time reached and no headers, and have no record', async () => {
    const seen: unknown[] = [];
    const harness = run(
      () => undefined,
      (context) =>
        void context.schedule({ interval: 100, time: 'wallClock' }, (timestamp) => {
          seen.push(context.recordMetadata());
          return context.forward({ key: 'tick', value: String(timestamp) });
        }),
    );
    await harness.wallClockTimers.punctuate(99);
    await harness.wallClockTimers.punctuate(130);
    expect(harness.output.sent).toEqual([{ key: 'tick', value: '130', timestamp: 130, headers: noHeaders }]);
    expect(seen).toEqual([null]);
  });

  it('knows its task, its record, its stores and the times', () => {
    const store = new FakeKeyValueStore('st');
    const seen: unknown[] = [];
    const harness = run(
      (_record, context) => {
        seen.push(context.recordMetadata(), context.streamTime(), context.wallClock(), context.store('st'));
        context.commit();
      },
      (context) => void seen.push(context.applicationId, context.taskId, context.partition),
      { stores: [store] },
    );
    harness.now = 5;
    void harness.pipe('k', 'v', 17);
    expect(seen).toEqual(['app', '0_0', 0, { topic: 'in', partition: 0, offset: 0 }, 17, 5, store]);
    expect(harness.commitsAsked).toBe(1);
  });
});
