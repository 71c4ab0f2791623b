/** What ends a task ends it also when user code between the failure and the task catches the error. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { MillraceError } from '../../src/errors.js';
import type { Processor, ProcessorContext } from '../../src/processors/processor.js';
import type { ProcessorWrapper } from '../../src/processors/processor-wrapper.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { stores } from '../../src/stores/stores.js';
import { TaskRig } from './harness/task-rig.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

type Catching = 'swallows' | 'throws its own' | 'awaits and swallows';

function catcher(catching: Catching): () => Processor<string, string, string, string> {
  return () => {
    let context: ProcessorContext<string, string>;
    return {
      init(given) {
        context = given;
        context.schedule({ interval: 100, time: 'wallClock' }, () => {
          try {
            void context.forward({ key: 'timer', value: 'bad', timestamp: 1 });
          } catch {
            // As a careless user does.
          }
        });
      },
      process(record) {
        if (catching === 'awaits and swallows')
          return (async () => {
            try {
              await context.forward(record);
            } catch {
              // As a careless user does.
            }
          })();
        try {
          void context.forward(record);
        } catch (error) {
          if (catching === 'throws its own') throw new Error('wrapped', { cause: error });
        }
      },
    };
  };
}

/** Stores each value, then sends it on: a record that fails behind it is half done. */
function storing(work: (value: string) => void = () => undefined): () => Processor<string, string, string, string> {
  return () => {
    let context: ProcessorContext<string, string>;
    return {
      init(given) {
        context = given;
      },
      process(record) {
        context.store<KeyValueStore<string, string>>('last').put(record.key, record.value);
        work(record.value);
        return context.forward(record);
      },
    };
  };
}

const last = stores.keyValue({ name: 'last', ...text });

/** `in` → a processor that catches what forward throws → one that stores → a function that fails on the value `bad` → `out`. */
function pipeline(catching: Catching, fail: (value: string) => void | Promise<void>) {
  const builder = new StreamsBuilder();
  builder
    .stream('in', text)
    .process(catcher(catching), { name: 'catcher', ...text })
    .process(storing(), { name: 'storing', stores: [last], ...text })
    .peek((value) => fail(value), { name: 'fragile' })
    .to('out', text);
  return builder.build();
}

const failsOnBad = (value: string): void => {
  if (value === 'bad') throw new RangeError('boom');
};

async function pipedBad(rig: TaskRig): Promise<void> {
  rig.pipe('in', 'a', 'good', 10);
  rig.pipe('in', 'b', 'bad', 20);
  rig.pipe('in', 'c', 'good', 30);
  await rig.run();
}

describe('an error that ends the task', () => {
  it.each<Catching>(['swallows', 'throws its own', 'awaits and swallows'])(
    'ends it though a processor above %s: nothing behind the record runs, and nothing is committed',
    async (catching) => {
      const rig = await TaskRig.open(pipeline(catching, failsOnBad), { errors: { processing: 'fail' } });
      const ended = { code: 'MILL_PROCESSING', details: { node: 'fragile', topic: 'in', offset: 1 } };
      await expect(pipedBad(rig)).rejects.toMatchObject(ended);
      await expect(rig.commit()).rejects.toMatchObject(ended);
      expect(rig.lines('out')).toEqual(['a=good@10']);
      expect(rig.task.positions()[0]?.offset).toBe(1);
    },
  );

  it('is told by the lower node alone: the handler is not asked about what a processor makes of it', async () => {
    const asked: string[] = [];
    const rig = await TaskRig.open(pipeline('throws its own', failsOnBad), {
      errors: { processing: (_error, { node }) => (asked.push(node), node === 'fragile' ? 'fail' : 'continue') },
    });
    await expect(pipedBad(rig)).rejects.toMatchObject({ details: { node: 'fragile' } });
    expect(asked).toEqual(['fragile']);
  });

  it('may be the wish to try again from the last commit', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .process(catcher('swallows'), { name: 'catcher', ...text })
      .process(storing(failsOnBad), { name: 'storing', stores: [last], ...text })
      .to('out', text);
    const rig = await TaskRig.open(builder.build(), { errors: { processing: 'retry' } });
    rig.pipe('in', 'a', 'good', 10);
    rig.pipe('in', 'a', 'bad', 20);
    await expect(rig.run()).rejects.toMatchObject({ code: 'MILL_RETRY' });
    await expect(rig.commit()).rejects.toMatchObject({ code: 'MILL_RETRY' });
  });

  it('may be one of the engine that no handler is asked about', async () => {
    const engine = (value: string): void => {
      if (value === 'bad') throw new MillraceError('MILL_STATE_INVALID', 'from a store');
    };
    const rig = await TaskRig.open(pipeline('swallows', engine), { errors: { processing: 'continue' } });
    await expect(pipedBad(rig)).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
  });

  it('ends it though a wrapper catches it, at once or later', async () => {
    const wrappers: ProcessorWrapper[] = [
      ({ name }) =>
        name === 'fragile'
          ? null
          : {
              process(key, value, timestamp, proceed) {
                try {
                  return proceed(key, value, timestamp);
                } catch {
                  // As a careless user does.
                }
              },
            },
      () => ({
        async process(key, value, timestamp, proceed) {
          await Promise.resolve(proceed(key, value, timestamp)).catch(() => undefined);
        },
      }),
    ];
    const late = async (value: string): Promise<void> => {
      await Promise.resolve();
      failsOnBad(value);
    };
    for (const [wrapper, fail] of [[wrappers[0], failsOnBad] as const, [wrappers[0], late] as const]) {
      const rig = await TaskRig.open(pipeline('swallows', fail), { env: wrapper === undefined ? {} : { processorWrapper: wrapper } });
      await expect(pipedBad(rig)).rejects.toMatchObject({ code: 'MILL_PROCESSING', details: { offset: 1 } });
    }
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .peek(() => undefined)
      .to('out', { keySerde: serdes.string, valueSerde: { name: 'broken', serialize: failsOnBad as never, deserialize: String } });
    const rig = await TaskRig.open(builder.build(), {
      ...(wrappers[1] === undefined ? {} : { env: { processorWrapper: wrappers[1] } }),
      partitionCount: () => Promise.reject(new MillraceError('MILL_TOPIC_MISSING', 'no such topic')),
    });
    rig.pipe('in', 'a', 'good', 10);
    await expect(rig.run()).rejects.toMatchObject({ code: 'MILL_TOPIC_MISSING' });
  });

  it('ends it at the next step when a timer’s forward met it', async () => {
    const rig = await TaskRig.open(pipeline('swallows', failsOnBad));
    rig.now = 200;
    rig.task.punctuate(200);
    expect(() => rig.task.run(Infinity)).toThrow('boom');
    await expect(rig.commit()).rejects.toMatchObject({ code: 'MILL_PROCESSING', details: { topic: null } });
  });
});
