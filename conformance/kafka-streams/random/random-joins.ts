/** Random joins of the vocabulary, with keys and values that make their rows meet. */
import fc from 'fast-check';
import type { JsonObject } from '../../case.js';
import { fields, joiner, merged, oneOf, optimization, seldom, store } from './choices.js';
import type { RandomOperation, Text } from './random-operation.js';

const kinds = oneOf('inner', 'left', 'outer');
const innerOrLeft = oneOf('inner', 'left');
/** Few, so that rows meet. */
const keys = ['A', 'B', 'B', 'é', null];
const values = (): readonly Text[] => ['1', '2', '3', '4', '', null];
const both = ['L', 'R'];

/** Also windows that lie before or after their record altogether. */
const windows = fc
  .tuple(fc.constantFrom(0, 2, 5, 10, 20, -3), fc.constantFrom(0, 2, 5, 10, 20, -2, null), fc.constantFrom(0, 0, 3, 10, 100_000))
  .map(([beforeMs, after, graceMs]): JsonObject => ({ beforeMs, afterMs: Math.max(-beforeMs, after ?? beforeMs), graceMs }));

const streamStream = merged(
  fields({ op: fc.constant('stream-stream-join'), kind: kinds, joiner }),
  windows,
  seldom('repartitionBoth', 4),
  seldom('joinResultAgainWithRight', 5),
  optimization,
);

const selfJoin = merged(
  fields({ op: fc.constant('stream-stream-join'), kind: kinds, joiner, self: fc.constant(true) }),
  windows,
  seldom('repartitionBoth', 6),
  seldom('joinResultAgainWithRight', 6),
  seldom('config', 2, fc.constant({ 'topology.optimization': 'all' })),
);

const tableTable = merged(
  fields({
    op: fc.constant('table-table-join'),
    kinds: fc.array(kinds, { minLength: 1, maxLength: 3 }),
    joiner,
    leftStore: store,
    rightStore: store,
  }),
  seldom('unmaterialized', 3),
  fc.oneof(
    { weight: 5, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fields({ leftStore: fc.constant('kv'), suppressLeftMs: oneOf(0, 3, 20) }) },
  ),
  fc.oneof(
    { weight: 5, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fields({ rightStore: fc.constant('kv'), suppressRightMs: oneOf(0, 3, 20) }) },
  ),
  optimization,
);

const foreignKey = merged(
  fields({
    op: fc.constant('table-table-fk-join'),
    kind: innerOrLeft,
    joiner: fc.constant('({l},{r})'),
    fk: oneOf('after-bar', 'after-bar', 'after-bar-or-null', 'null'),
    leftStore: store,
    rightStore: store,
  }),
  optimization,
);

const streamTable = merged(
  fields({ op: fc.constant('stream-table-join'), kind: innerOrLeft, joiner, tableStore: oneOf('kv', 'none') }),
  seldom('repartitionLeft', 3),
);

const streamVersionedTable = merged(
  fields({
    op: fc.constant('stream-table-join'),
    kind: innerOrLeft,
    joiner,
    tableStore: oneOf({ versionedMs: 5 }, { versionedMs: 20 }, { versionedMs: 300_000 }),
  }),
  seldom('repartitionLeft', 4),
);

const streamTableWithGrace = merged(
  fields({
    op: fc.constant('stream-table-join'),
    kind: innerOrLeft,
    joiner,
    tableStore: oneOf({ versionedMs: 20 }, { versionedMs: 300_000 }),
    graceMs: oneOf(0, 2, 5, 20),
  }),
  seldom('repartitionLeft', 4),
);

const streamGlobalTable = merged(
  fields({ op: fc.constant('stream-globaltable-join'), kind: innerOrLeft, joiner }),
  seldom('tableStore', 2, fc.constant('kv')),
);

export const joinOperations: readonly RandomOperation[] = [
  { name: 'stream-stream-join', topics: both, keys, values, topology: streamStream },
  { name: 'stream-self-join', topics: ['L'], keys, values, topology: selfJoin },
  { name: 'table-table-join', topics: both, keys, values, topology: tableTable },
  { name: 'table-table-fk-join', topics: both, keys, values: valuesWithForeignKeys, topology: foreignKey },
  { name: 'stream-table-join', topics: both, keys, values, topology: streamTable },
  { name: 'stream-versioned-table-join', topics: both, keys, values, topology: streamVersionedTable },
  // Kafka Streams fails on a record without a key in a left join with a grace period.
  { name: 'stream-table-grace-join', topics: both, keys: ['A', 'B', 'é'], values, topology: streamTableWithGrace },
  { name: 'stream-globaltable-join', topics: both, keys, values: valuesWithTableKeys, topology: streamGlobalTable },
];

function valuesWithForeignKeys(topic: string): readonly Text[] {
  return topic === 'R' ? values() : ['x|A', 'y|A', 'x|B', 'x|é', 'z|nobody', 'x|returnNull', null];
}

function valuesWithTableKeys(topic: string): readonly Text[] {
  return topic === 'R' ? ['1', '2', null] : ['x', 'x,A', 'y,B', 'z,zz', ',é', 'q,'];
}
