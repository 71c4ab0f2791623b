/** Random topologies of the vocabulary's joins, and the keys and values that make their rows meet. */
import type { Json, JsonObject } from '../case.js';

interface Choices {
  below(bound: number): number;
  pick<T>(choices: readonly T[]): T;
}

export interface JoinOperation {
  readonly topics: readonly string[];
  readonly keys: readonly (string | null)[];
  readonly values: (topic: string) => readonly (string | null)[];
  readonly topology: (random: Choices) => JsonObject;
}

const kinds = ['inner', 'left', 'outer'];
const joiner = '{l}|{r}';
/** Few, so that rows meet. */
const keys = ['A', 'B', 'B', 'é', null];
const values = (): readonly (string | null)[] => ['1', '2', '3', '4', '', null];
const both = ['L', 'R'];

export const joinOperations: readonly JoinOperation[] = [
  { topics: both, keys, values, topology: streamStream },
  { topics: both, keys, values, topology: streamStream },
  { topics: ['L'], keys, values, topology: selfJoin },
  { topics: both, keys, values, topology: tableTable },
  { topics: both, keys, values, topology: tableTable },
  { topics: both, keys, values: valuesWithForeignKeys, topology: foreignKey },
  { topics: both, keys, values: valuesWithForeignKeys, topology: foreignKey },
  { topics: both, keys, values, topology: streamVersionedTable },
  // Kafka Streams fails on a record without a key in a left join with a grace period.
  { topics: both, keys: ['A', 'B', 'é'], values, topology: streamTableWithGrace },
];

function streamStream(random: Choices): JsonObject {
  return {
    op: 'stream-stream-join',
    kind: random.pick(kinds),
    joiner,
    ...windows(random),
    ...(random.below(4) === 0 ? { repartitionBoth: true } : {}),
    ...(random.below(5) === 0 ? { joinResultAgainWithRight: true } : {}),
  };
}

function selfJoin(random: Choices): JsonObject {
  const optimised = random.below(2) === 0 ? { config: { 'topology.optimization': 'all' } } : {};
  return { op: 'stream-stream-join', kind: random.pick(kinds), joiner, self: true, ...optimised, ...windows(random) };
}

/** Also windows that lie before or after their record altogether. */
function windows(random: Choices): JsonObject {
  const beforeMs = random.pick([0, 2, 5, 10, 20, -3]);
  const afterMs = Math.max(-beforeMs, random.pick([0, 2, 5, 10, 20, -2, beforeMs]));
  return { beforeMs, afterMs, graceMs: random.pick([0, 0, 3, 10, 100_000]) };
}

function tableTable(random: Choices): JsonObject {
  return {
    op: 'table-table-join',
    kinds: Array.from({ length: random.pick([1, 1, 2, 3]) }, () => random.pick(kinds)),
    joiner,
    leftStore: store(random),
    rightStore: store(random),
    ...(random.below(3) === 0 ? { unmaterialized: true } : {}),
    ...(random.below(6) === 0 ? { leftStore: 'kv', suppressLeftMs: random.pick([0, 3, 20]) } : {}),
    ...(random.below(6) === 0 ? { rightStore: 'kv', suppressRightMs: random.pick([0, 3, 20]) } : {}),
  };
}

function foreignKey(random: Choices): JsonObject {
  return {
    op: 'table-table-fk-join',
    kind: random.pick(['inner', 'left']),
    joiner: '({l},{r})',
    fk: random.pick(['after-bar', 'after-bar', 'after-bar-or-null', 'null']),
    leftStore: store(random),
    rightStore: store(random),
  };
}

function valuesWithForeignKeys(topic: string): readonly (string | null)[] {
  return topic === 'R' ? values() : ['x|A', 'y|A', 'x|B', 'x|é', 'z|nobody', 'x|returnNull', null];
}

function streamVersionedTable(random: Choices): JsonObject {
  return {
    op: 'stream-table-join',
    kind: random.pick(['inner', 'left']),
    joiner,
    tableStore: { versionedMs: random.pick([5, 20, 300_000]) },
    ...(random.below(4) === 0 ? { repartitionLeft: true } : {}),
  };
}

function streamTableWithGrace(random: Choices): JsonObject {
  return {
    op: 'stream-table-join',
    kind: random.pick(['inner', 'left']),
    joiner,
    tableStore: { versionedMs: random.pick([20, 300_000]) },
    graceMs: random.pick([0, 2, 5, 20]),
  };
}

function store(random: Choices): Json {
  return random.pick<Json>(['kv', 'kv', { versionedMs: 300_000 }, { versionedMs: 10 }]);
}
