import { describe, expect, it } from '@jest/globals';
import { tumbling } from '../../src/time/time-windows.js';
import type { AsyncProcessor } from '../../src/processors/async/async-processor.js';
import type { ProcessorContext, Record } from '../../src/processors/processor.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { Operator, OperatorContext } from '../../src/processors/operator.js';
import { WrappedOperator, type ProcessorAround } from '../../src/processors/processor-wrapper.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { TaskRecord } from '../../src/runtime/task-record.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** An operator that has every member there is, and notes what is called. */
function complete(): { operator: Required<Operator>; called: string[] } {
  const called: string[] = [];
  const note = (name: string) => () => {
    called.push(name);
  };
  const operator: Required<Operator> = {
    ignoresValue: true,
    keepsRecords: true,
    hasDueTimers: true,
    hasMoreResults: true,
    holdsResults: true,
    unfinished: { size: 0, isFull: false, ready: null, oldest: null, begin: () => undefined, results: { process: () => undefined } },
    init: note('init'),
    process: note('process'),
    flush: note('flush'),
    onWatermark: note('onWatermark'),
    onEndOfInput: note('onEndOfInput'),
    close: note('close'),
  };
  return { operator, called };
}

describe('a wrapped operator', () => {
  it('hands on every member that an operator may have', async () => {
    const { operator, called } = complete();
    const wrapped = new WrappedOperator(operator, {});
    for (const name of Object.keys(operator) as (keyof Operator)[]) {
      const member = wrapped[name];
      if (typeof operator[name] !== 'function') expect([name, member]).toEqual([name, operator[name]]);
    }
    wrapped.init({ record: new TaskRecord() } as unknown as OperatorContext);
    await wrapped.process('k', 'v', 1);
    await wrapped.flush();
    await wrapped.onWatermark(1);
    await wrapped.onEndOfInput();
    await wrapped.close();
    expect(called).toEqual(['init', 'process', 'flush', 'onWatermark', 'onEndOfInput', 'close']);
  });

  it('has its values decoded for a wrapper that sees them', () => {
    const process: NonNullable<ProcessorAround['process']> = (key, value, timestamp, proceed) => proceed(key, value, timestamp);
    expect(new WrappedOperator(complete().operator, { process }).ignoresValue).toBe(false);
  });

  it('of calls sees the turn of each result, with its record, and what is sent on in it', async () => {
    const seen: string[] = [];
    const builder = new StreamsBuilder();
    class Doubled implements AsyncProcessor<string, string, string, string, string> {
      private context: ProcessorContext<string, string> | null = null;
      init(context: ProcessorContext<string, string>): void {
        this.context = context;
      }
      call({ value }: Record<string, string>): Promise<string> {
        seen.push(`call ${value}`);
        return Promise.resolve(value + value);
      }
      process({ key }: Record<string, string>, result: string) {
        seen.push(`process ${result}`);
        return this.context?.forward({ key, value: result });
      }
    }
    builder
      .stream('in', text)
      .processAsync(() => new Doubled(), { name: 'doubled', ...text })
      .to('out', text);
    await using driver = new TopologyTestDriver(builder.build(), {
      processorWrapper: () => ({
        process: (key, value, timestamp, proceed) => {
          seen.push(`take ${String(value)}`);
          return proceed(key, value, timestamp);
        },
        result: async (_key, value, timestamp, proceed, meta) => {
          seen.push(`result of ${String(value)} of ${meta.topic} #${meta.offset}@${timestamp} with ${meta.headers().length} header begins`);
          await proceed();
          seen.push('and ends');
        },
      }),
    });
    await driver.inputTopic('in', text).pipe('k', 'x', { timestamp: 5, headers: [{ key: 'trace', value: Buffer.from('1') }] });
    expect(seen).toEqual(['take x', 'call x', 'result of x of in #0@5 with 1 header begins', 'process xx', 'and ends']);
    expect(driver.outputTopic('out', text).readAll()).toMatchObject([{ value: 'xx', headers: [{ key: 'trace' }] }]);
  });

  it('emits its final results at the end of the input', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .groupByKey()
      .windowedBy(tumbling({ size: 1000 }))
      .count({ emit: 'onWindowClose' })
      .toStream()
      .map((count, { key, window }) => [`${key}@${window.start}`, String(count)], text)
      .to('out', text);
    const driver = new TopologyTestDriver(builder.build(), { processorWrapper: () => ({}) });
    await driver.inputTopic('in', text).pipe('a', 'x', { timestamp: 5 });
    await driver.endInput();
    expect(
      driver
        .outputTopic('out', text)
        .readAll()
        .map(({ key, value }) => `${key}=${value}`),
    ).toEqual(['a@0=1']);
    await driver.close();
  });
});
