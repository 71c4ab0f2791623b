import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { ScheduleOptions } from '../../src/processors/operator.js';
import type { ProcessorContext, Record } from '../../src/processors/processor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { keyValueStore } from '../../src/stores/store-builders.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { deferred, settle, TaskRig } from './harness/task-rig.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

type Forward = ProcessorContext<string, string>;

/** A topology of one processor between `in` and `out`, with a store `seen`. */
function around(
  processor: (context: Forward) => {
    readonly process: (record: Record<string, string>) => void | Promise<void>;
    readonly close?: () => void | Promise<void>;
  },
) {
  const builder = new StreamsBuilder();
  builder.addStateStore(keyValueStore({ name: 'seen', ...text }));
  builder
    .stream('in', text)
    .process<string, string>(
      () => {
        let made: ReturnType<typeof processor> | null = null;
        return {
          init: (context: Forward) => {
            made = processor(context);
          },
          process: (record: Record<string, string>) => made?.process(record),
          close: () => made?.close?.(),
        };
      },
      { name: 'p', stores: ['seen'], ...text },
    )
    .to('out', text);
  return builder.build();
}

describe('a task with asynchronous functions', () => {
  it('takes one record at a time and keeps their order', async () => {
    const gates = [deferred(), deferred(), deferred()];
    let running = 0;
    let most = 0;
    const rig = await TaskRig.open(
      around((context) => ({
        process: async (record) => {
          most = Math.max(most, ++running);
          await gates[Number(record.value)]?.promise;
          running--;
          await context.forward(record);
        },
      })),
    );
    for (const value of ['0', '1', '2']) rig.pipe('in', 'k', value, Number(value));
    expect(rig.task.run(Infinity)).toBe(1);
    gates[2]?.resolve();
    gates[1]?.resolve();
    await settle();
    expect(rig.task.isBusy).toBe(true);
    expect(rig.task.run(Infinity)).toBe(0);
    gates[0]?.resolve();
    await rig.task.settled();
    await rig.run();
    expect(most).toBe(1);
    expect(rig.lines('out')).toEqual(['k=0@0', 'k=1@1', 'k=2@2']);
  });

  it('does not count a record as done before its promise is', async () => {
    const gate = deferred();
    const rig = await TaskRig.open(around(() => ({ process: () => gate.promise })));
    rig.pipe('in', 'k', 'a');
    rig.task.run(Infinity);
    expect(rig.task.positions()[0]?.offset).toBe(0);
    gate.resolve();
    await rig.task.settled();
    expect(rig.task.positions()[0]?.offset).toBe(1);
  });

  it('loses no update of a read–modify–write across an await', async () => {
    const rig = await TaskRig.open(
      around((context) => ({
        process: async ({ key }) => {
          const store = context.store<KeyValueStore<string, string>>('seen');
          const before = Number(store.get(key) ?? 0);
          await settle();
          store.put(key, String(before + 1));
        },
      })),
    );
    for (let i = 0; i < 20; i++) rig.pipe('in', 'k', 'x');
    await rig.run();
    expect((rig.state.store('seen') as KeyValueStore<string, string>).get('k')).toBe('20');
  });

  it('after a rejection lets nothing of itself be committed: run, settled and flush throw', async () => {
    const rig = await TaskRig.open(
      around((context) => ({
        process: async (record) => {
          await context.forward(record);
          throw new Error('half done');
        },
      })),
    );
    rig.pipe('in', 'k', 'a');
    rig.task.run(Infinity);
    await settle();
    expect(rig.task.isBusy).toBe(false);
    const failure = { code: 'MILL_PROCESSING', details: { node: 'p', taskId: '0_0', topic: 'in', partition: 0, offset: 0 } };
    expect(() => rig.task.run(Infinity)).toThrow(expect.objectContaining(failure));
    expect(() => rig.task.flush()).toThrow(expect.objectContaining(failure));
    await expect(rig.task.settled()).rejects.toMatchObject(failure);
    expect(rig.task.positions()[0]?.offset).toBe(0);
  });
});

describe('closing a task', () => {
  it('does not wait for a function that never ends, and what that does later goes nowhere', async () => {
    const gate = deferred();
    let late: unknown = null;
    const rig = await TaskRig.open(
      around((context) => ({
        process: async (record) => {
          await gate.promise;
          try {
            await context.forward({ ...record, value: 'late' });
          } catch (error) {
            late = error;
            throw error;
          }
        },
      })),
    );
    rig.pipe('in', 'k', 'a');
    rig.task.run(Infinity);
    await rig.active.close(false);
    gate.resolve();
    await settle();
    expect(late).toMatchObject({ code: 'MILL_STATE_INVALID' });
    expect(rig.lines('out')).toEqual([]);
    expect(() => (rig.state.store('seen') as KeyValueStore<string, string>).put('k', 'late')).toThrow(
      expect.objectContaining({ code: 'MILL_STORE_CLOSED' }),
    );
    expect(rig.task.positions()[0]?.offset).toBe(0);
  });

  it('asks no handler about a function that fails afterwards', async () => {
    const gate = deferred();
    const asked: string[] = [];
    const rig = await TaskRig.open(
      around(() => ({ process: () => gate.promise })),
      { errors: { processing: (error) => (asked.push(error.message), 'continue') } },
    );
    rig.pipe('in', 'k', 'a');
    rig.task.run(Infinity);
    await rig.active.close(false);
    gate.reject(new Error('late'));
    await settle();
    expect(asked).toEqual([]);
  });

  it('closes every processor and logs the one that fails', async () => {
    const rig = await TaskRig.open(
      around(() => ({
        process: () => undefined,
        close: () => {
          throw new Error('no');
        },
      })),
    );
    await rig.active.close(true);
    expect(rig.warnings).toMatchObject([{ fields: { taskId: '0_0', node: 'p' }, message: 'a processor failed to close' }]);
  });

  it('gives the room of what it had buffered back', async () => {
    const rig = await TaskRig.open(around(() => ({ process: () => undefined })));
    rig.pipe('in', 'k', 'a');
    rig.pipe('in', 'k', 'b');
    await rig.active.close(false);
    expect(rig.released).toHaveLength(2);
  });
});

describe('punctuations', () => {
  it('fire on stream time after the record that moved it, with the time reached', async () => {
    const rig = await TaskRig.open(
      around((context) => {
        context.schedule({ interval: 10, time: 'stream' }, (now) => void context.forward({ key: 'tick', value: String(now) }));
        return { process: (record) => void context.forward(record) };
      }),
    );
    for (const time of [3, 8, 25]) rig.pipe('in', 'k', 'v', time);
    await rig.run();
    expect(rig.lines('out')).toEqual(['k=v@3', 'tick=3@3', 'k=v@8', 'k=v@25', 'tick=25@25']);
  });

  it('fire on the wall clock without any record, and their output is committed with the positions of the inputs', async () => {
    const rig = await TaskRig.open(
      around((context) => {
        context.schedule({ interval: 100, time: 'wallClock' }, (now) => void context.forward({ key: 'tick', value: String(now) }));
        return { process: () => undefined };
      }),
      { start: { offset: 7, partitionTime: 70 } },
    );
    expect(rig.task.nextWakeUp()).toBe(100);
    expect(rig.task.punctuate(99)).toBe(0);
    expect(rig.task.dirty).toBe(false);
    expect(rig.task.punctuate(100)).toBe(1);
    expect(rig.task.dirty).toBe(true);
    expect(await rig.commit()).toEqual([{ topic: 'in', offset: 7 }]);
    expect(rig.lines('out')).toEqual(['tick=100@100']);
    expect(rig.task.dirty).toBe(false);
  });

  it.each([
    [{ interval: 10, time: 'streamTime' }, 'the option time must be "stream" or "wallClock", not "streamTime"'],
    [{ interval: 10 }, 'the option time must be "stream" or "wallClock", not undefined'],
    [{ interval: 10, time: 'stream', startsAt: 5 }, 'has no option startsAt; did you mean startAt?'],
    [{ interval: 0, time: 'stream' }, 'the interval must be a whole number'],
  ])('with wrong options are refused at once: %j', async (options, message) => {
    const open = TaskRig.open(
      around((context) => {
        context.schedule(options as ScheduleOptions, () => undefined);
        return { process: () => undefined };
      }),
    );
    await expect(open).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID', message: expect.stringContaining(message) });
  });

  it('without a callback are refused at once', async () => {
    const open = TaskRig.open(
      around((context) => {
        context.schedule({ interval: 10, time: 'stream' }, undefined as unknown as () => void);
        return { process: () => undefined };
      }),
    );
    await expect(open).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID' });
  });

  it('that fail are asked about like records, by the node that scheduled them', async () => {
    const asked: unknown[] = [];
    const rig = await TaskRig.open(
      around((context) => {
        context.schedule({ interval: 1, time: 'wallClock' }, () => {
          throw new Error('tock');
        });
        return { process: () => undefined };
      }),
      { errors: { processing: (error, { node, topic, key }) => (asked.push([error.message, node, topic, key]), 'continue') } },
    );
    expect(rig.task.punctuate(5)).toBe(1);
    expect(asked).toEqual([['tock', 'p', null, null]]);
  });
});

describe('time', () => {
  it('goes on from what was committed and never back', async () => {
    const rig = await TaskRig.open(
      around(() => ({ process: () => undefined })),
      { start: { offset: 0, partitionTime: 500 } },
    );
    expect(rig.task.streamTime()).toBe(500);
    rig.pipe('in', 'k', 'v', 40);
    await rig.run();
    expect(rig.task.streamTime()).toBe(500);
    expect(rig.task.positions()).toMatchObject([{ offset: 1, partitionTime: 500 }]);
  });
});

describe('state and its changelog', () => {
  it('logs one record a dirty key, the last value, into the partition of the task', async () => {
    const rig = await TaskRig.open(
      around((context) => ({
        process: ({ key, value }) => {
          context.store<KeyValueStore<string, string>>('seen').put(key, value);
        },
      })),
      { partition: 2 },
    );
    for (const [key, value] of [
      ['a', '1'],
      ['b', '1'],
      ['a', '2'],
    ] as const)
      rig.pipe('in', key, value, 9);
    await rig.run();
    expect(await rig.commit()).toEqual([{ topic: 'in', offset: 3 }]);
    expect(
      rig
        .lines('app-seen-changelog')
        .map((line) => line.split('@')[0])
        .sort(),
    ).toEqual(['a=2', 'b=1']);
    expect(rig.written('app-seen-changelog').every(({ partition }) => partition === 2)).toBe(true);
  });

  it('remembers committed positions only after the commit', async () => {
    const rig = await TaskRig.open(around(() => ({ process: () => undefined })));
    rig.pipe('in', 'k', 'v');
    await rig.run();
    rig.active.freeze(1);
    expect(rig.active.committedPositions).toEqual([]);
    // Of the next epoch: what is purged must not reach so far.
    rig.pipe('in', 'k', 'w');
    await rig.run();
    rig.active.committed(1, new Map());
    expect(rig.active.committedPositions).toMatchObject([{ topic: 'in', partition: 0, offset: 1 }]);
  });
});

describe('a record dropped before it was ever handed out', () => {
  const extractor = { name: 'bad', extract: ({ value }: { readonly value: unknown }) => Number(value) };
  const topology = () => {
    const builder = new StreamsBuilder();
    builder.stream('in', { keySerde: serdes.string, valueSerde: serdes.json<number>(), timestampExtractor: extractor }).to('out');
    return builder.build();
  };

  it('counts as work, so that its position and its dead letter belong to an epoch', async () => {
    const rig = await TaskRig.open(topology(), { errors: { deserialization: 'deadLetter', deadLetterTopic: 'dlq' } });
    rig.pipe('in', 'k', 'not json');
    rig.task.run(Infinity);
    await rig.task.settled();
    expect(rig.task.run(Infinity)).toBe(1);
    expect(rig.task.dirty).toBe(true);
    expect(await rig.commit()).toEqual([{ topic: 'in', offset: 1 }]);
    expect(rig.written('dlq')).toHaveLength(1);
  });

  it('is dropped and counted when the extractor says that it has no time', async () => {
    const rig = await TaskRig.open(topology());
    for (const value of ['-1', '-1.5', '4']) rig.pipe('in', 'k', value);
    await rig.run();
    expect(rig.metrics.dropped.get('invalid-timestamp')).toBe(2);
    expect(rig.metrics.recordsProcessed).toBe(3);
    expect(rig.warnings).toHaveLength(1);
    expect(rig.lines('out')).toEqual(['k=4@4']);
  });

  it('is a record that the task has taken, whatever became of it', async () => {
    const rig = await TaskRig.open(topology());
    rig.pipe('in', 'k', '4');
    await rig.run();
    rig.now = 10_000;
    expect(rig.task.intake.snapshot()).toEqual({ sourceIdleTime: 10_000, currentEmitEventTimeLag: -4 });
    rig.pipe('in', 'k', '-1');
    await rig.run();
    expect(rig.task.intake.snapshot()).toEqual({ sourceIdleTime: 0, currentEmitEventTimeLag: -4 });
  });

  it('is an error with its address when the extractor throws', async () => {
    const builder = new StreamsBuilder();
    const throwing = {
      name: 'throwing',
      extract: () => {
        throw new Error('no time');
      },
    };
    builder.stream('in', { ...text, timestampExtractor: throwing }).to('out');
    const rig = await TaskRig.open(builder.build());
    rig.pipe('in', 'k', 'v');
    expect(() => rig.task.run(Infinity)).toThrow(
      expect.objectContaining({ code: 'MILL_PROCESSING', details: expect.objectContaining({ topic: 'in', partition: 0, offset: 0 }) }),
    );
  });
});
