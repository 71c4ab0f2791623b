/** Operator state: lists that belong to a task, in every kind of processor. */
import { describe, expect, it } from '@jest/globals';
import type { BroadcastStream } from '../../src/dsl/broadcast-stream.js';
import type { KStream } from '../../src/dsl/kstream.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { AsyncProcessor } from '../../src/processors/async/async-processor.js';
import type { FixedKeyProcessor, Processor, ProcessorContext, Record } from '../../src/processors/processor.js';
import type { OperatorListState, OperatorStateAccess } from '../../src/processors/operator-state/operator-list-state.js';
import { operatorListState, type OperatorListStateDescriptor } from '../../src/processors/operator-state/operator-state-descriptor.js';
import { listState, mapState, valueState } from '../../src/processors/state/state-descriptor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TestHarness, type TestHarnessOptions } from '../../src/testing/test-harness.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };
const waiting = operatorListState<string>('waiting', { serde: serdes.string });
const known = operatorListState<string>('known', { serde: serdes.string, redistribution: 'union' });

type Context = OperatorStateAccess & { forward(record: { key: never; value: string }): void | Promise<void> };

/** Holds values back; `!` sends on what waits. Any kind of processor. */
class Batcher implements Processor<string, string, string, string> {
  declare protected context: Context;
  declare protected waiting: OperatorListState<string>;

  init(context: unknown): void {
    this.context = context as Context;
    this.waiting = this.context.operatorState(waiting);
  }

  process({ key, value }: Record<string, string>): void | Promise<void> {
    if (value !== '!') {
      this.waiting.add(value);
      return;
    }
    const batch = this.waiting.get().join(' ');
    this.waiting.clear();
    return this.context.forward({ key: key as never, value: batch });
  }

  processBroadcast({ value }: Record<string, string>): void {
    this.waiting.add(value);
  }

  call(): string {
    return '';
  }
}

const rules = mapState<string, string>('rules');
const options = { name: 'batch', operatorStates: [waiting], ...texts };
const kinds: readonly (readonly [string, (input: KStream<string, string>) => KStream<string, string>])[] = [
  ['process', (input) => input.process(() => new Batcher(), options)],
  ['processValues', (input) => input.processValues(() => new Batcher() as unknown as FixedKeyProcessor<string, string, string>, options)],
  ['processAsync', (input) => input.processAsync(() => new Batcher() as AsyncProcessor<string, string, string, string, string>, options)],
  ['process of a keyed stream', (input) => input.keyBy().process(() => new Batcher(), { ...options, states: [valueState('seen')] })],
  [
    'process of a stream and a broadcast one',
    (input) =>
      input
        .repartition({ name: 'data', ...texts })
        .connect(rulesOf(input))
        .process(() => new Batcher(), options),
  ],
  [
    'process of a keyed stream and a broadcast one',
    (input) =>
      input
        .repartition({ name: 'data', ...texts })
        .keyBy()
        .connect(rulesOf(input))
        .process(() => new Batcher(), options),
  ],
];

function rulesOf(input: KStream<string, string>): BroadcastStream<string, string> {
  return input.filter((value): boolean => value === 'everywhere').broadcast({ name: 'rules', states: [rules], ...texts });
}

const values = (harness: TestHarness<string, string>): unknown[] => harness.outputs().map(({ value }) => value);

describe.each(kinds)('operator state in %s', (_kind, operator) => {
  it('belongs to the task and not to a key, and is what processors add and remove', async () => {
    await using first = new TestHarness(operator, texts);
    await first.push('a', 'one');
    await first.push('b', 'two');
    expect(await first.operatorState(waiting)).toEqual([['one', 'two']]);
    await first.push('c', '!');
    await first.push('c', '!');
    expect(values(first)).toEqual(['one two', '']);
    expect(await first.operatorState(waiting)).toEqual([[]]);
  });

  it('lies in a store and a changelog of the operator', () => {
    const builder = new StreamsBuilder();
    operator(builder.stream('in', texts)).to('out');
    const { stores } = builder.build();
    expect(stores.get('batch-operator-waiting')?.spec).toMatchObject({ kind: 'timestampedKeyValue', logged: true, rows: 'split' });
  });
});

/** Chooses in `init`: keeps the elements of its own numbers, as a source of Flink's chooses its splits. */
class Chooser implements Processor<string, string, string, string> {
  private seen: string[] = [];

  init(context: ProcessorContext<string, string>): void {
    const state = context.operatorState(known);
    this.seen = state.get();
    state.update(this.seen.filter((element) => Number(element) % 2 === context.partition % 2));
    this.context = context;
  }

  declare private context: ProcessorContext<string, string>;

  process({ key, value }: Record<string, string>): void | Promise<void> {
    const state = this.context.operatorState(known);
    state.add(value);
    return this.context.forward({ key, value: `${this.seen.length} ${state.get().join()}` });
  }
}

const chooser = (input: KStream<string, string>) =>
  input.process(() => new Chooser(), { name: 'choose', operatorStates: [known], ...texts });

describe('operator state over another number of tasks', () => {
  it.each([
    [1, 3],
    [2, 1],
    [2, 2],
    [4, 3],
  ])('is split or united: from %d to %d', async (before, after) => {
    const operator = (input: KStream<string, string>) =>
      input.process(() => new Both(), { name: 'both', operatorStates: [waiting, known] });
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    await using first = new TestHarness(operator, { ...texts, parallelism: before });
    for (const key of keys) await first.push(key, key);
    await using second = new TestHarness(operator, { ...texts, parallelism: after, from: await first.snapshot() });
    const [split, united] = [await second.operatorState(waiting), await second.operatorState(known, 'both')];
    expect(split.flat().sort()).toEqual(keys);
    if (before === after) expect(split).toEqual(await first.operatorState(waiting));
    else expect(Math.max(...split.map(({ length }) => length)) - Math.min(...split.map(({ length }) => length))).toBeLessThan(2);
    expect(united.map((list) => list.sort())).toEqual(Array.from({ length: after }, () => keys));
  });

  it('is there in init, where a task may choose, and goes on from what it chose', async () => {
    await using first = new TestHarness(chooser, texts);
    for (const value of ['1', '2', '3', '4']) await first.push('a', value);
    await using second = new TestHarness(chooser, { ...texts, parallelism: 2, from: await first.snapshot() });
    expect(await second.operatorState(known)).toEqual([
      ['2', '4'],
      ['1', '3'],
    ]);
    await using third = new TestHarness(chooser, { ...texts, from: await second.snapshot() });
    await third.push('a', '6');
    expect(values(third as never)).toEqual(['4 2,4,6']);
  });
});

/** Keeps each value in both lists. */
class Both implements Processor<string, string> {
  private lists: OperatorListState<string>[] = [];

  init(context: ProcessorContext<never, never>): void {
    this.lists = [waiting, known].map((descriptor) => context.operatorState(descriptor));
  }

  process({ value }: Record<string, string>): void {
    for (const list of this.lists) list.add(value);
  }
}

describe('what init writes', () => {
  it('is committed although no record comes', async () => {
    class Marks implements Processor<string, string> {
      init(context: ProcessorContext<never, never>): void {
        context.operatorState(waiting).update(['begun']);
      }

      process(): void {
        // Nothing comes.
      }
    }
    const builder = new StreamsBuilder();
    builder.stream('in', texts).process(() => new Marks(), { name: 'marks', operatorStates: [waiting] });
    await using driver = new TopologyTestDriver(builder.build());
    const view = await driver.view<number, string>('marks-operator-waiting');
    expect(await view.get(0)).toBe('begun');
  });
});

describe('operator state is refused', () => {
  const built = (make: (input: KStream<string, string>) => unknown) => (): void => {
    const builder = new StreamsBuilder();
    make(builder.stream('in', texts));
    builder.build();
  };
  const coded = (code: string, message: string | RegExp = '') =>
    expect.objectContaining({
      code,
      message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    });

  it('when a name is given twice, also to a state by key', () => {
    const same = operatorListState('waiting');
    expect(built((input) => input.process(() => new Batcher(), { operatorStates: [waiting, same] }))).toThrow(
      coded('MILL_TOPOLOGY_DUPLICATE_NAME', 'waiting'),
    );
    expect(
      built((input) => input.keyBy().process(() => new Batcher(), { operatorStates: [waiting], states: [listState('waiting')] })),
    ).toThrow(coded('MILL_TOPOLOGY_DUPLICATE_NAME', 'waiting'));
  });

  it('in the place of state by key, and the other way round', () => {
    expect(built((input) => input.keyBy().process(() => new Batcher(), { states: [waiting as never] }))).toThrow(
      coded('MILL_TOPOLOGY_INVALID', 'name it in `operatorStates`'),
    );
    expect(built((input) => input.process(() => new Batcher(), { operatorStates: [listState('byKey') as never] }))).toThrow(
      coded('MILL_TOPOLOGY_INVALID', 'byKey, which is state by key: name it in `states`'),
    );
    for (const wrong of [[null], ['waiting'], [undefined]])
      expect(built((input) => input.process(() => new Batcher(), { operatorStates: wrong as never }))).toThrow(
        coded('MILL_TOPOLOGY_INVALID'),
      );
    expect(built((input) => input.process(() => new Batcher(), { operatorStates: waiting as never }))).toThrow(
      coded('MILL_TOPOLOGY_INVALID'),
    );
  });

  it('with options that it has not, and names that stores can’t have', () => {
    expect(() => operatorListState('a', { ttl: { ttl: 5 } } as never)).toThrow(coded('MILL_TOPOLOGY_INVALID', 'ttl'));
    expect(() => operatorListState('a', { redistribution: 'even' } as never)).toThrow(coded('MILL_TOPOLOGY_INVALID', 'redistribution'));
    expect(() => operatorListState('a b')).toThrow(coded('MILL_TOPOLOGY_INVALID', 'a b'));
    expect(() => operatorListState(undefined as never)).toThrow(coded('MILL_TOPOLOGY_INVALID'));
  });

  it('without a name of the operator, where names are required', () => {
    const builder = new StreamsBuilder();
    builder.stream('in', texts).process(() => new Batcher(), { operatorStates: [waiting] });
    expect(() => builder.build({ explicitNames: 'require' })).toThrow(coded('MILL_TOPOLOGY_NAME_REQUIRED', 'operator-waiting'));
  });

  const used = async (
    processor: (context: ProcessorContext<string, string>) => Partial<Processor<string, string, string, string>>,
    more: Partial<TestHarnessOptions<string, string>> = {},
  ): Promise<void> => {
    class Used implements Processor<string, string, string, string> {
      private made: Partial<Processor<string, string, string, string>> = {};
      init(context: ProcessorContext<string, string>): void {
        this.made = processor(context);
      }
      process(record: Record<string, string>): void | Promise<void> {
        return this.made.process?.(record);
      }
      close(): void | Promise<void> {
        return this.made.close?.();
      }
    }
    const harness = new TestHarness((input: KStream<string, string>) => input.process(() => new Used(), options), { ...texts, ...more });
    await harness.push('a', 'v');
    await new Promise(setImmediate);
    await harness.close();
  };

  it('when it is not declared, or with another descriptor of its name', async () => {
    const stranger: OperatorListStateDescriptor<string> = operatorListState<string>('waiting');
    await expect(used((context) => ({ process: () => void context.operatorState(stranger) }))).rejects.toMatchObject({
      message: expect.stringContaining('operator state waiting is declared with another descriptor of that name'),
    });
    await expect(used((context) => ({ process: () => void context.operatorState(undefined as never) }))).rejects.toThrow(/not declared/);
  });

  it('outside of init, process and timers: in close, and in what goes on by itself', async () => {
    const told: unknown[] = [];
    await used((context) => {
      const list = context.operatorState(waiting);
      const tried = (call: () => unknown) => () => {
        try {
          call();
        } catch (error) {
          told.push(error);
        }
      };
      return { process: () => void setImmediate(tried(() => list.get())), close: tried(() => list.clear()) };
    });
    expect(told).toEqual([
      coded('MILL_STATE_INVALID', 'get of operator state waiting'),
      coded('MILL_STATE_INVALID', 'clear of operator state waiting'),
    ]);
  });

  it('in the call of an asynchronous processor', async () => {
    class Caller extends Batcher {
      override call(): string {
        this.waiting.add('x');
        return '';
      }
    }
    await using harness = new TestHarness(
      (input: KStream<string, string>) =>
        input.processAsync(() => new Caller() as AsyncProcessor<string, string, string, string, string>, options),
      texts,
    );
    await expect(harness.push('a', 'v')).rejects.toMatchObject({ message: expect.stringContaining('add of operator state waiting') });
  });
});

describe('a record that fails', () => {
  it('leaves the list whole, with what was done before it failed', async () => {
    class Failing extends Batcher {
      override process(record: Record<string, string>): void | Promise<void> {
        this.waiting.add('before');
        if (record.value === 'null') this.waiting.addAll(['lost', null as never]);
        return super.process(record);
      }
    }
    const builder = new StreamsBuilder();
    builder
      .stream('in', texts)
      .process(() => new Failing(), options)
      .to('out');
    await using driver = new TopologyTestDriver(builder.build(), { processingHandler: () => 'continue' } as never);
    const input = driver.inputTopic('in', texts);
    await input.pipe('a', 'null');
    await input.pipe('a', '!');
    expect(
      driver
        .outputTopic('out', texts)
        .readAll()
        .map(({ value }) => value),
    ).toEqual(['before before']);
  });
});
