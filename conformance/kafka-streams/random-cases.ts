/**
 * Random cases of the vocabulary, without results: Kafka Streams records those (`--random`), and then they are cases like all others.
 *
 * The same seed gives the same cases. Times wander forward with disorder and jumps; keys and values include null, the empty text and texts beyond ASCII.
 */
import type { Json, JsonObject } from '../case.js';

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
  readonly values: (topic: string) => readonly (string | null)[];
  readonly topology: (random: Random) => JsonObject;
}

const keys = ['A', 'B', 'C', 'aa', 'é', '\uffff', '😀', null];
const plainValues = (): readonly (string | null)[] => ['1', '2', '3', '', null];
const withTableKeys = (topic: string): readonly (string | null)[] =>
  topic === 'R' ? ['1', '2', null] : ['x', 'x,A', 'y,B', 'z,zz', ',C', 'q,'];
const kinds = ['inner', 'left'];

const operations: readonly Operation[] = [
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

function steps(random: Random, { topics, values }: Operation): JsonObject[] {
  let time = 0;
  return Array.from({ length: 1 + random.below(8) }, () => ({
    in: Array.from({ length: 1 + random.below(6) }, (): Json => {
      const topic = random.pick(topics);
      const disorder = random.pick([0, 3, 10, 60]);
      const timestamp = Math.max(0, time - disorder + random.below(2 * disorder + 1));
      time = Math.max(time, timestamp) + random.pick([0, 0, 1, 2, 7, 40]);
      return [topic, random.pick(keys), random.pick(values(topic)), timestamp];
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
