import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { ErrorPolicy, HandlerAnswer } from '../../src/runtime/error-policy.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TaskRig } from './harness/task-rig.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const numbers = { keySerde: serdes.string, valueSerde: serdes.json<number>() };

/** `in` (JSON numbers) → a function that fails on 13 → `out`, whose serde fails on 99. */
function pipeline() {
  const builder = new StreamsBuilder();
  builder
    .stream('in', numbers)
    .mapValues(
      (value) => {
        if (value === 13) throw new RangeError('unlucky');
        return value;
      },
      { name: 'fragile', valueSerde: serdes.json<number>() },
    )
    .to('out', {
      name: 'sink',
      keySerde: serdes.string,
      valueSerde: {
        name: 'limited',
        serialize: (value: number) => {
          if (value === 99) throw new TypeError('too much');
          return Buffer.from(String(value));
        },
        deserialize: () => 0,
      },
    });
  return builder.build();
}

/** What the kinds of failure look like: the value that causes it, its code, and who is asked. */
const kinds = [
  {
    value: 'oops',
    code: 'MILL_DESERIALIZATION',
    handler: 'deserialization',
    counter: 'deserializationErrors',
    node: 'KSTREAM-SOURCE-0000000000',
  },
  { value: '13', code: 'MILL_PROCESSING', handler: 'processing', counter: 'processingErrors', node: 'fragile' },
  { value: '99', code: 'MILL_PRODUCTION', handler: 'production', counter: 'productionErrors', node: 'sink' },
] as const;

const policy = (handler: (typeof kinds)[number]['handler'], answer: unknown): Partial<ErrorPolicy> => ({
  [handler]: answer as HandlerAnswer,
  deadLetterTopic: 'dlq',
});

async function outcome(errors: Partial<ErrorPolicy>, value: string): Promise<{ rig: TaskRig; error: unknown }> {
  const rig = await TaskRig.open(pipeline(), { errors });
  rig.pipe('in', 'a', '1', 10);
  rig.pipe('in', 'b', value, 20, [{ key: 'trace', value: Buffer.from('t1') }]);
  rig.pipe('in', 'c', '2', 30);
  try {
    await rig.run();
    return { rig, error: null };
  } catch (error) {
    return { rig, error };
  }
}

describe.each(kinds)('a record with $code', ({ value, code, handler, counter, node }) => {
  it('stops the task under "fail", with topic, partition, offset, node and cause', async () => {
    const { rig, error } = await outcome(policy(handler, 'fail'), value);
    expect(error).toMatchObject({ code, details: { topic: 'in', partition: 0, offset: 1, node, taskId: '0_0' }, cause: expect.any(Error) });
    expect(rig.lines('out')).toEqual(['a=1@10']);
    expect(rig.task.positions()[0]?.offset).toBe(1);
    expect(rig.metrics[counter]).toBe(1);
  });

  it('is dropped, counted and logged under "continue"', async () => {
    const { rig, error } = await outcome(policy(handler, 'continue'), value);
    expect(error).toBeNull();
    expect(rig.lines('out')).toEqual(['a=1@10', 'c=2@30']);
    expect(rig.metrics[counter]).toBe(1);
    expect(rig.metrics.deadLetters).toBe(0);
    expect(rig.warnings).toMatchObject([{ fields: { code, node, topic: 'in', partition: 0, offset: 1, timestamp: 20 } }]);
  });

  it('goes to the dead-letter topic byte for byte, saying where and why', async () => {
    const { rig } = await outcome(policy(handler, 'deadLetter'), value);
    expect(rig.lines('out')).toEqual(['a=1@10', 'c=2@30']);
    expect(rig.lines('dlq')).toEqual([`b=${value}@20`]);
    expect(rig.metrics.deadLetters).toBe(1);
    const headers = new Map(rig.written('dlq')[0]?.headers.map(({ key, value: bytes }) => [key, String(bytes)]));
    expect([...headers.keys()]).toEqual([
      'trace',
      '__streams.errors.exception',
      '__streams.errors.stacktrace',
      '__streams.errors.message',
      '__streams.errors.topic',
      '__streams.errors.partition',
      '__streams.errors.offset',
      '__millrace.errors.node',
      '__millrace.errors.task',
    ]);
    expect([headers.get('__millrace.errors.node'), headers.get('__millrace.errors.task')]).toEqual([node, '0_0']);
    expect([headers.get('trace'), headers.get('__streams.errors.topic'), headers.get('__streams.errors.partition')]).toEqual([
      't1',
      'in',
      '0',
    ]);
    expect(headers.get('__streams.errors.offset')).toBe('1');
    expect(Buffer.byteLength(headers.get('__streams.errors.stacktrace') ?? '')).toBeLessThanOrEqual(4096);
  });

  it('is decided by a function, at once or later', async () => {
    const seen: unknown[] = [];
    const { rig } = await outcome(
      policy(handler, async (error: Error, record: object) => {
        seen.push([error, record]);
        await Promise.resolve();
        return 'continue';
      }),
      value,
    );
    expect(rig.lines('out')).toEqual(['a=1@10', 'c=2@30']);
    expect(seen).toEqual([
      [expect.any(Error), expect.objectContaining({ node, taskId: '0_0', topic: 'in', partition: 0, offset: 1, timestamp: 20 })],
    ]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken handler');
      },
      'broken handler',
    ],
    ['rejects', () => Promise.reject(new Error('broken handler')), 'broken handler'],
    ['answers nonsense', () => 'maybe', 'it answered maybe'],
    ['answers nothing', () => undefined, 'it answered undefined'],
  ])('fails, and is asked about once, when the handler %s', async (_what, broken: () => unknown, reason) => {
    let asked = 0;
    const { error } = await outcome(
      policy(handler, () => (asked++, broken())),
      value,
    );
    expect(error).toMatchObject({ code, message: expect.stringContaining(reason) });
    expect(asked).toBe(1);
  });
});

describe('the handlers', () => {
  it('see key and value of a failed processing, and the topic of a failed production', async () => {
    const seen: object[] = [];
    const see = (_error: Error, record: object): HandlerAnswer => (seen.push(record), 'continue');
    await outcome({ processing: see }, '13');
    await outcome({ production: see }, '99');
    expect(seen).toMatchObject([{ key: 'b', value: 13 }, { outputTopic: 'out' }]);
  });

  it('are not asked about a record that is too large unless it is one for the output', async () => {
    const rig = await TaskRig.open(
      (() => {
        const builder = new StreamsBuilder();
        builder
          .stream('in', text)
          .mapValues(() => 'x'.repeat(2_000_000), { valueSerde: serdes.string })
          .to('out', text);
        return builder.build();
      })(),
      { errors: { production: 'continue' } },
    );
    rig.pipe('in', 'k', 'v');
    await rig.run();
    expect(rig.metrics.productionErrors).toBe(1);
    expect(rig.warnings[0]?.fields['error']).toContain('MILL_RECORD_TOO_LARGE');
  });
});

describe('a dead letter', () => {
  it('without a topic for it is a fault of the configuration', async () => {
    const rig = await TaskRig.open(pipeline(), { errors: { processing: () => 'deadLetter' } });
    rig.pipe('in', 'b', '13');
    await expect(rig.run()).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID' });
  });

  it.each([
    ['leaves the stack out when the record has no room for it', 1_048_588 - 1500, 1],
    ['names the record and the topic when it does not fit at all', 1_048_588 - 150, 0],
  ])('of a record near the limit %s', async (_what, size, letters) => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .peek(() => {
        throw new Error('no');
      })
      .to('out');
    const rig = await TaskRig.open(builder.build(), { errors: { processing: 'deadLetter', deadLetterTopic: 'dlq' } });
    rig.pipe('in', 'k', 'x'.repeat(size), 3);
    const failure = await rig.run().then(
      () => null,
      (error: unknown) => error,
    );
    expect(rig.written('dlq')).toHaveLength(letters);
    if (letters === 1) expect(failure).toBeNull();
    else expect(failure).toMatchObject({ code: 'MILL_RECORD_TOO_LARGE', details: { topic: 'in', offset: 0, deadLetterTopic: 'dlq' } });
  });

  it('keeps a null key and a null value, on the partition of its source', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .peek(() => {
        throw new Error('no');
      })
      .to('out');
    const rig = await TaskRig.open(builder.build(), {
      partition: 5,
      partitionCount: () => 4,
      errors: { processing: 'deadLetter', deadLetterTopic: 'dlq' },
    });
    rig.pipe('in', null, null, 3);
    await rig.run();
    expect(rig.written('dlq')).toMatchObject([{ key: null, value: null, timestamp: 3, partition: 1 }]);
  });
});
