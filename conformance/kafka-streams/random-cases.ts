/**
 * Random cases of the vocabulary, without results: Kafka Streams records those (`--random`), and then they are cases like all others.
 *
 * The same seed gives the same cases. Times wander forward with disorder and jumps; keys and values include null, the empty text and texts beyond ASCII.
 */
import type { Json, JsonObject } from '../case.js';
import { joinOperations } from './random-joins.js';

export function randomCases(count: number, seed: number): JsonObject {
  const random = new Random(seed);
  const cases = Array.from({ length: count }, (_, index): JsonObject => {
    const operation = random.pick(operations);
    const topology = operation.topology(random);
    return {
      name: `random ${seed}/${index} ${JSON.stringify(topology.op)}`,
      topology,
      steps: steps(random, operation),
      droppedRecordsTotal: 0,
    };
  });
  return { suite: `random cases, seed ${seed}`, cases };
}

interface Operation {
  readonly topics: readonly string[];
  /** Default: `keys`. */
  readonly keys?: readonly (string | null)[];
  readonly values: (topic: string) => readonly (string | null)[];
  readonly topology: (random: Random) => JsonObject;
}

const keys = ['A', 'B', 'C', 'aa', 'é', '\uffff', '😀', null];
const plainValues = (): readonly (string | null)[] => ['1', '2', '3', '', null];
const withTableKeys = (topic: string): readonly (string | null)[] =>
  topic === 'R' ? ['1', '2', null] : ['x', 'x,A', 'y,B', 'z,zz', ',C', 'q,'];
const kinds = ['inner', 'left'];
const numbers = (): readonly (string | null)[] => ['1', '2', '3', '4', null];
const shortTexts = (): readonly (string | null)[] => ['a', 'b', 'c', null];
/** Keys that the mapping of `value-as-key-null-special` treats apart, and keys of two characters. */
const tableKeys = ['A', 'B', 'null', 'NULL', 'é', '11', '12', '21', null];

const operations: readonly Operation[] = [
  ...joinOperations,
  { topics: ['L'], values: plainValues, topology: (random) => windowAggregate(random, 'update') },
  { topics: ['L'], values: plainValues, topology: (random) => windowAggregate(random, 'close') },
  {
    topics: ['L', 'R'],
    values: plainValues,
    topology: (random) => ({
      op: 'stream-table-join',
      kind: random.pick(kinds),
      joiner: '{l}|{r}',
      tableStore: 'kv',
      ...(random.below(3) === 0 ? { repartitionLeft: true } : {}),
    }),
  },
  {
    topics: ['L', 'R'],
    values: withTableKeys,
    topology: (random) => ({ op: 'stream-globaltable-join', kind: random.pick(kinds), joiner: '{l}|{r}' }),
  },
  {
    topics: ['L'],
    values: plainValues,
    topology: (random) => ({ op: 'stream-aggregate', aggregate: random.pick(['count', 'reduce+', 'aggregate0+']) }),
  },
  { topics: ['L'], values: plainValues, topology: () => ({ op: 'source-table' }) },
  { topics: ['L'], values: plainValues, topology: () => ({ op: 'stream-to-table' }) },
  { topics: ['L'], values: plainValues, topology: () => ({ op: 'stream-repartition' }) },
  { topics: ['L', 'R'], values: plainValues, topology: () => ({ op: 'merge' }) },
  { topics: ['L'], values: plainValues, topology: (random) => sessionAggregate(random, 'update') },
  { topics: ['L'], values: plainValues, topology: (random) => sessionAggregate(random, 'close') },
  { topics: ['L'], values: plainValues, topology: (random) => slidingAggregate(random, 'update') },
  { topics: ['L'], values: plainValues, topology: (random) => slidingAggregate(random, 'close') },
  {
    topics: ['L'],
    values: plainValues,
    topology: (random) => ({
      ...random.pick([windowAggregate, sessionAggregate, slidingAggregate])(random, 'update'),
      suppress: 'until-window-closes',
    }),
  },
  {
    topics: ['L'],
    values: numbers,
    topology: (random) => ({ op: 'table-filter', tableStore: random.pick(['none', 'kv']), not: random.below(2) === 0 }),
  },
  {
    topics: ['L'],
    keys: tableKeys,
    values: shortTexts,
    topology: (random) => ({
      op: 'table-groupby-aggregate',
      groupBy: random.pick(['same-key', 'value-as-key', 'value-as-key-keep-key', 'value-as-key-null-special']),
      aggregate: random.pick(['count', 'aggregate0+-', 'concat-remove']),
      tableStore: random.pick(['kv', 'kv', { versionedMs: 300_000 }]),
    }),
  },
  {
    topics: ['L'],
    keys: ['11', '12', '21', '22', '31'],
    values: shortTexts,
    topology: (random) => ({
      op: 'table-groupby-aggregate',
      groupBy: 'first-char-to-second-char',
      aggregate: random.pick(['count', 'aggregate0+-', 'concat-remove']),
      tableStore: 'kv',
    }),
  },
  {
    topics: ['L'],
    keys: ['k1', 'k2', 'k3', null],
    values: shortTexts,
    topology: (random) => ({
      op: 'table-groupby-value-count-suppress',
      timeLimitMs: random.pick<Json>([0, 2, 10, 30, 'infinite']),
      buffer: random.pick<Json>([{}, { maxRecords: 1 }, { maxRecords: 2 }, { maxBytes: 200 }, { maxBytes: 300 }]),
    }),
  },
  {
    topics: ['L'],
    keys: ['k1', 'k2', 'k3', null],
    values: shortTexts,
    topology: (random) => ({ op: 'table-suppress-groupby-count', timeLimitMs: random.pick([0, 2, 10, 30]) }),
  },
  {
    topics: ['one', 'two', 'three'],
    values: plainValues,
    topology: (random) => ({ op: 'cogroup', inputs: ['one', 'two', 'three'], separators: ['-', '+', ''], init: random.pick(['0', '']) }),
  },
];

function windowAggregate(random: Random, emit: string): JsonObject {
  const sizeMs = (1 + random.below(12)) * random.pick([1, 5]);
  const hops = random.below(2) === 0 ? {} : { advanceMs: 1 + random.below(sizeMs) };
  return {
    op: 'window-aggregate',
    window: { type: 'time', sizeMs, graceMs: random.pick([0, 0, 3, 10, 25]), ...hops },
    aggregate: random.pick(['count', 'reduce+', 'aggregate0+', "aggregate''+"]),
    emit,
  };
}

function sessionAggregate(random: Random, emit: string): JsonObject {
  return {
    op: 'window-aggregate',
    window: { type: 'session', gapMs: 1 + random.below(12), graceMs: random.pick([0, 0, 3, 10, 25]) },
    aggregate: random.pick(['count', 'reduce+', 'aggregate0+merge+']),
    emit,
  };
}

function slidingAggregate(random: Random, emit: string): JsonObject {
  return {
    op: 'window-aggregate',
    window: { type: 'sliding', timeDifferenceMs: 1 + random.below(24), graceMs: random.pick([0, 0, 3, 10, 25]) },
    aggregate: random.pick(['count', 'reduce+', 'aggregate0+']),
    emit,
  };
}

function steps(random: Random, { topics, values, keys: own = keys }: Operation): JsonObject[] {
  let time = 0;
  return Array.from({ length: 1 + random.below(8) }, () => ({
    in: Array.from({ length: 1 + random.below(6) }, (): Json => {
      const topic = random.pick(topics);
      const disorder = random.pick([0, 3, 10, 60]);
      const timestamp = Math.max(0, time - disorder + random.below(2 * disorder + 1));
      time = Math.max(time, timestamp) + random.pick([0, 0, 1, 2, 7, 40]);
      return [topic, random.pick(own), random.pick(values(topic)), timestamp];
    }),
  }));
}

/** Mulberry32: small, and the same everywhere. */
class Random {
  constructor(private state: number) {}

  below(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}
