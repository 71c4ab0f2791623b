/** Everything of the vocabulary, as random operations. A new operation or option goes here, into `topologies/` and into the oracle. */
import fc from 'fast-check';
import { buffer, fields, merged, oneOf, optimization, seldom, sessionWindows, slidingWindows, store, timeWindows } from './choices.js';
import { joinOperations } from './random-joins.js';
import type { RandomOperation, Text } from './random-operation.js';
import { pipelineOperations } from './random-pipelines.js';

const keys = ['A', 'B', 'C', 'aa', 'é', '\uffff', '😀', null];
const values = (): readonly Text[] => ['1', '2', '3', '', null];
const numbers = (): readonly Text[] => ['1', '2', '3', '4', null];
const shortTexts = (): readonly Text[] => ['a', 'b', 'c', null];
const three = ['one', 'two', 'three'];

const windowed = { op: fc.constant('window-aggregate'), emit: oneOf('update', 'close') };
const suppressed = seldom('suppress', 3, fc.constant('until-window-closes'));
const tableAggregates = oneOf('count', 'aggregate0+-', 'concat-remove');

const windowOperations: readonly RandomOperation[] = [
  {
    name: 'time-windows',
    topics: ['L'],
    keys,
    values,
    topology: merged(
      fields({ ...windowed, window: timeWindows, aggregate: oneOf('count', 'reduce+', 'aggregate0+', "aggregate''+") }),
      suppressed,
    ),
  },
  {
    name: 'session-windows',
    topics: ['L'],
    keys,
    values,
    topology: merged(
      fields({ ...windowed, window: sessionWindows, aggregate: oneOf('count', 'reduce+', 'aggregate0+merge+') }),
      suppressed,
    ),
  },
  {
    name: 'sliding-windows',
    topics: ['L'],
    keys,
    values,
    topology: merged(fields({ ...windowed, window: slidingWindows, aggregate: oneOf('count', 'reduce+', 'aggregate0+') }), suppressed),
  },
];

const tableOperations: readonly RandomOperation[] = [
  {
    name: 'source-table',
    topics: ['L'],
    keys,
    values,
    topology: merged(fields({ op: fc.constant('source-table'), tableStore: store }), optimization),
  },
  {
    name: 'table-filter',
    topics: ['L'],
    keys,
    values: numbers,
    topology: merged(
      fields({ op: fc.constant('table-filter'), tableStore: oneOf('none', 'kv', { versionedMs: 20 }), not: fc.boolean() }),
      optimization,
    ),
  },
  {
    name: 'table-groupby-aggregate',
    topics: ['L'],
    // Also those that the mapping `value-as-key-null-special` treats apart, and keys of two characters.
    keys: ['A', 'B', 'null', 'NULL', 'é', '11', '12', '21', null],
    values: shortTexts,
    topology: merged(
      fields({
        op: fc.constant('table-groupby-aggregate'),
        groupBy: oneOf('same-key', 'value-as-key', 'value-as-key-keep-key', 'value-as-key-null-special'),
        aggregate: tableAggregates,
        tableStore: store,
      }),
      optimization,
    ),
  },
  {
    name: 'table-groupby-characters',
    topics: ['L'],
    keys: ['11', '12', '21', '22', '31'],
    values: shortTexts,
    topology: fields({
      op: fc.constant('table-groupby-aggregate'),
      groupBy: fc.constant('first-char-to-second-char'),
      aggregate: tableAggregates,
      tableStore: store,
    }),
  },
  {
    name: 'table-groupby-value-count-suppress',
    topics: ['L'],
    keys: ['k1', 'k2', 'k3', null],
    values: shortTexts,
    topology: fields({
      op: fc.constant('table-groupby-value-count-suppress'),
      timeLimitMs: oneOf(0, 2, 10, 30, 'infinite'),
      buffer,
    }),
  },
  {
    name: 'table-suppress-groupby-count',
    topics: ['L'],
    keys: ['k1', 'k2', 'k3', null],
    values: shortTexts,
    topology: fields({ op: fc.constant('table-suppress-groupby-count'), timeLimitMs: oneOf(0, 2, 10, 30) }),
  },
];

export const randomOperations: readonly RandomOperation[] = [
  ...joinOperations,
  ...windowOperations,
  ...tableOperations,
  {
    name: 'stream-aggregate',
    topics: ['L'],
    keys,
    values,
    topology: fields({ op: fc.constant('stream-aggregate'), aggregate: oneOf('count', 'reduce+', 'aggregate0+') }),
  },
  { name: 'stream-to-table', topics: ['L'], keys, values, topology: fields({ op: fc.constant('stream-to-table') }) },
  { name: 'stream-repartition', topics: ['L'], keys, values, topology: fields({ op: fc.constant('stream-repartition') }) },
  { name: 'merge', topics: ['L', 'R'], keys, values, topology: fields({ op: fc.constant('merge') }) },
  {
    name: 'cogroup',
    topics: three,
    keys,
    values,
    topology: fields({
      op: fc.constant('cogroup'),
      inputs: fc.constant(three),
      separators: oneOf(['-', '+', ''], ['', '', ''], ['+', '+', '-']),
      init: oneOf('0', ''),
    }),
  },
  ...pipelineOperations,
];
