import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { AsyncOptions, AsyncOrder, Processor, ProcessorContext, Record } from '../../src/index.js';
import { serdes } from '../../src/serdes/serdes.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import type { Topology } from '../../src/topology/nodes.js';
import { deferred, settle, TaskRig } from './harness/task-rig.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };

/** Calls that the test ends, by the value of their record. */
class HeldCalls {
  readonly made: string[] = [];
  private readonly open = new Map<string, ReturnType<typeof deferred<string>>[]>();

  readonly fn = (value: string): Promise<string> => {
    this.made.push(value);
    const call = deferred<string>();
    this.open.set(value, [...(this.open.get(value) ?? []), call]);
    return call.promise;
  };

  async end(value: string, rig: TaskRig): Promise<void> {
    this.open.get(value)?.shift()?.resolve(value.toUpperCase());
    await settle();
    await rig.run();
  }
}

function mapped(calls: HeldCalls, options: AsyncOptions<string, string> = {}): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream('in', texts)
    .mapValuesAsync(calls.fn, { name: 'call', timeout: Infinity, ...options })
    .to('out', texts);
  return builder.build();
}

/** Another life of the task: as it was at its last commit. */
const reopened = (rig: TaskRig, topology: Topology): Promise<TaskRig> => TaskRig.open(topology, { before: rig });

describe('a task with asynchronous operators', () => {
  it('commits what is behind a record that is unfinished, and calls again for it in its next life only', async () => {
    const calls = new HeldCalls();
    const topology = mapped(calls);
    const rig = await TaskRig.open(topology);
    for (const value of ['a', 'b', 'c']) rig.pipe('in', 'k', value, 1);
    await rig.run();
    await calls.end('a', rig);
    expect(rig.lines('out')).toEqual(['k=A@1']);
    expect(await rig.commit()).toEqual([{ topic: 'in', offset: 3 }]);
    expect(rig.written('app-call-unfinished-changelog')).toHaveLength(2);
    // A second commit has nothing new to write.
    await calls.end('c', rig);
    await rig.commit();
    expect(calls.made).toEqual(['a', 'b', 'c']);

    const next = await reopened(rig, topology);
    await next.run();
    expect(calls.made).toEqual(['a', 'b', 'c', 'b', 'c']);
    await calls.end('b', next);
    await calls.end('b', next);
    await calls.end('c', next);
    expect(next.lines('out')).toEqual(['k=B@1', 'k=C@1']);
    await next.commit();
    const after = await reopened(next, topology);
    await after.run();
    expect(calls.made).toHaveLength(5);
  });

  it('leaves no trace in the store of records that are finished before the commit', async () => {
    const calls = new HeldCalls();
    const rig = await TaskRig.open(mapped(calls));
    for (const value of ['a', 'b']) rig.pipe('in', 'k', value, 1);
    await rig.run();
    await calls.end('a', rig);
    await calls.end('b', rig);
    await rig.commit();
    expect(rig.written('app-call-unfinished-changelog')).toEqual([]);
  });

  it('takes no more records while its bound is reached, and is not busy meanwhile', async () => {
    const calls = new HeldCalls();
    const rig = await TaskRig.open(mapped(calls, { concurrency: 2, maxBufferedRecords: 3 }));
    for (const value of ['a', 'b', 'c', 'd', 'e']) rig.pipe('in', 'k', value, 1);
    await rig.run();
    expect(calls.made).toEqual(['a', 'b']);
    expect(rig.task.unfinishedCount).toBe(3);
    expect(rig.task.isBusy).toBe(false);
    expect(rig.task.positions()[0]?.offset).toBe(3);
    await calls.end('a', rig);
    expect(calls.made).toEqual(['a', 'b', 'c']);
    expect(rig.task.positions()[0]?.offset).toBe(4);
  });

  it('takes no more records at its bound of bytes', async () => {
    const calls = new HeldCalls();
    const rig = await TaskRig.open(mapped(calls, { maxBufferedBytes: 10 }));
    for (const value of ['aaaa', 'bbbb', 'cccc']) rig.pipe('in', 'k', value, 1);
    await rig.run();
    expect(calls.made).toEqual(['aaaa', 'bbbb']);
  });

  it('finishes what it has taken, and takes nothing more, while it is being given up', async () => {
    const calls = new HeldCalls();
    const rig = await TaskRig.open(mapped(calls));
    rig.pipe('in', 'k', 'a', 1);
    await rig.run();
    rig.task.takesInput = false;
    rig.pipe('in', 'k', 'b', 1);
    await calls.end('a', rig);
    expect(rig.lines('out')).toEqual(['k=A@1']);
    expect(rig.task.unfinishedCount).toBe(0);
    expect(calls.made).toEqual(['a']);
  });

  it('aborts the calls that are under way when it is closed, and drops what they give', async () => {
    const signals: AbortSignal[] = [];
    const builder = new StreamsBuilder();
    builder
      .stream('in', texts)
      .mapValuesAsync((value, _key, { signal }) => {
        signals.push(signal);
        return value === 'now' ? value : new Promise<string>(() => undefined);
      })
      .to('out', texts);
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', 'k', 'held', 1);
    await rig.run();
    await rig.active.close(false);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(rig.lines('out')).toEqual([]);
  });

  it('keeps what belongs to the record across a restart: time, headers, place', async () => {
    const seen: unknown[] = [];
    const builder = new StreamsBuilder();
    let held = true;
    builder
      .stream('in', texts)
      .mapValuesAsync((value) => (held ? new Promise<string>(() => undefined) : value), { name: 'call', timeout: Infinity })
      .peek((value, key, meta) => {
        seen.push([key, value, meta.topic, meta.partition, meta.offset, meta.timestamp, meta.headers().map(({ key: name }) => name)]);
      })
      .to('out', texts);
    const topology = builder.build();
    const rig = await TaskRig.open(topology);
    rig.pipe('in', null, 'v', 77, [{ key: 'trace', value: Buffer.from('1') }]);
    await rig.run();
    await rig.commit();
    held = false;
    const next = await reopened(rig, topology);
    await next.run();
    expect(seen).toEqual([[null, 'v', 'in', 0, 0, 77, ['trace']]]);
    expect(next.written('out')[0]?.headers).toHaveLength(1);
  });
});

describe('time behind an asynchronous operator', () => {
  it('a stream-time punctuation waits for the records before it', async () => {
    const calls = new HeldCalls();
    const fired: number[] = [];
    class Clock implements Processor<string, string> {
      init(context: ProcessorContext<never, never>): void {
        context.schedule({ interval: 100, time: 'stream', startAt: 100 }, (timestamp) => {
          fired.push(timestamp, context.streamTime());
        });
      }
      process(_record: Record<string, string>): void {
        // Time is all it looks at.
      }
    }
    const builder = new StreamsBuilder();
    builder
      .stream('in', texts)
      .mapValuesAsync(calls.fn, { timeout: Infinity, order: 'unordered' })
      .process(() => new Clock());
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', 'k', 'early', 10);
    rig.pipe('in', 'k', 'late', 150);
    await rig.run();
    await calls.end('late', rig);
    expect(fired).toEqual([]);
    await calls.end('early', rig);
    expect(fired).toEqual([150, 150]);
  });

  const windowed = (calls: HeldCalls, order: AsyncOrder): Topology => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', { ...texts, watermarks: watermarks.monotonous() })
      .mapValuesAsync(calls.fn, { name: 'call', timeout: Infinity, order, valueSerde: serdes.string })
      .keyBy({ name: 'keyed' })
      .window(tumblingEventTime({ size: 100 }))
      .aggregate(
        { initial: () => '', add: (all: string, value: string) => all + value, result: (all) => all },
        { name: 'windows', accumulatorSerde: serdes.string },
      )
      .map((value, { key }) => [key, value] as const)
      .to('out', texts);
    return builder.build();
  };

  it.each<AsyncOrder>(['arrival', 'perKey', 'unordered'])('a window stays open for records whose calls take long (%s)', async (order) => {
    const calls = new HeldCalls();
    const topology = windowed(calls, order);
    let rig = await TaskRig.open(topology);
    rig.pipe('in', 'x', 'a', 10);
    rig.pipe('in', 'y', 'b', 500);
    rig.pipe('in', 'z', 'c', 900);
    await rig.run();
    await calls.end('b', rig);
    await calls.end('c', rig);
    rig.now += 1000;
    rig.task.punctuate(rig.now);
    await rig.run();
    expect(rig.lines('out')).toEqual([]);
    expect([rig.task.watermark(), rig.task.outputWatermark]).toEqual([899, -Infinity]);
    await rig.commit();
    // Also in the next life of the task.
    rig = await reopened(rig, topology);
    await rig.run();
    const again = calls.made.slice(3);
    expect(again).toEqual(order === 'arrival' ? ['a', 'b', 'c'] : ['a']);
    await calls.end('a', rig);
    for (const value of again) await calls.end(value, rig);
    rig.now += 1000;
    rig.task.punctuate(rig.now);
    await rig.run();
    expect(rig.lines('out')).toEqual(['x=A@99', 'y=B@599']);
    expect(rig.task.outputWatermark).toBe(899);
  });
});

describe('exactly-once over random schedules', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('pipe' as const), key: fc.constantFrom('a', 'b', 'c') }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(), fails: fc.boolean() }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'commit' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  );

  it('every record has one committed result, in the order promised, and is called once a life but for failures', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<AsyncOrder>('arrival', 'perKey', 'unordered'),
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { maxLength: 40 }),
        async (order, concurrency, steps) => {
          const open: { readonly value: string; readonly end: (fails: boolean) => void }[] = [];
          const callsOfLife = new Map<string, number>();
          const failures = new Map<string, number>();
          const builder = new StreamsBuilder();
          builder
            .stream('in', texts)
            .mapValuesAsync(
              (value) =>
                new Promise<string>((resolve, reject) => {
                  callsOfLife.set(value, (callsOfLife.get(value) ?? 0) + 1);
                  open.push({
                    value,
                    end: (fails) => {
                      if (fails) failures.set(value, (failures.get(value) ?? 0) + 1);
                      if (fails) reject(new Error('again'));
                      else resolve(value);
                    },
                  });
                }),
              { name: 'call', concurrency, maxBufferedRecords: 5, order, timeout: Infinity, retry: { attempts: 1000, backoff: 0 } },
            )
            .to('out', texts);
          const topology = builder.build();
          let rig = await TaskRig.open(topology);
          const output: string[] = [];
          let seen = 0;
          let piped = 0;
          const turn = async (): Promise<void> => {
            await settle();
            await new Promise((resolve) => setTimeout(resolve, 0));
            await rig.run();
          };
          const commit = async (): Promise<void> => {
            await rig.commit();
            const lines = rig.written('out').map(({ key, value }) => `${String(key)}:${String(value)}`);
            output.push(...lines.slice(seen));
            seen = lines.length;
          };
          const crash = async (): Promise<void> => {
            open.length = 0;
            callsOfLife.clear();
            failures.clear();
            await rig.active.close(false);
            rig = await reopened(rig, topology);
            seen = 0;
          };
          const perform = async (what: (typeof steps)[number]): Promise<void> => {
            if (what.kind === 'pipe') rig.pipe('in', what.key, String(piped++), piped);
            else if (what.kind === 'end') open.splice(what.which % Math.max(1, open.length), 1)[0]?.end(what.fails);
            else if (what.kind === 'commit') await commit();
            else await crash();
            await turn();
            for (const [value, count] of callsOfLife) expect(count).toBeLessThanOrEqual(1 + (failures.get(value) ?? 0));
          };
          for (const each of steps) await perform(each);
          for (let rounds = 0; rounds < 500 && output.length < piped; rounds++) {
            await perform({ kind: 'end', which: 0, fails: false });
            if (open.length === 0) await perform({ kind: 'commit' });
          }
          expect(output.map((line) => Number(line.split(':')[1])).sort((x, y) => x - y)).toEqual(
            Array.from({ length: piped }, (_, i) => i),
          );
          const numbers = output.map((line) => Number(line.split(':')[1]));
          if (order === 'arrival') expect(numbers).toEqual([...numbers].sort((x, y) => x - y));
          if (order === 'perKey') {
            for (const key of ['a', 'b', 'c']) {
              const own = output.filter((line) => line.startsWith(`${key}:`)).map((line) => Number(line.split(':')[1]));
              expect(own).toEqual([...own].sort((x, y) => x - y));
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
