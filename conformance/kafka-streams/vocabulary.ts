/** Topologies by the `op` of a case. What an operation means in Java is told by the reference oracle; what it means here, by one file each in `topologies/`. */
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { Topology } from '../../src/topology/nodes.js';
import { NotBuiltError, text, type JsonObject } from '../case.js';
import { merge, sourceTable, streamRepartition, streamToTable } from './topologies/plain.js';
import { streamAggregate } from './topologies/stream-aggregate.js';
import { streamGlobalTableJoin } from './topologies/stream-global-table-join.js';
import { streamTableJoin } from './topologies/stream-table-join.js';
import { windowAggregate } from './topologies/window-aggregate.js';

export type DeclareTopology = (builder: StreamsBuilder, definition: JsonObject) => void;

const operations: Readonly<Record<string, DeclareTopology | undefined>> = {
  merge,
  'source-table': sourceTable,
  'stream-aggregate': streamAggregate,
  'stream-globaltable-join': streamGlobalTableJoin,
  'stream-repartition': streamRepartition,
  'stream-table-join': streamTableJoin,
  'stream-to-table': streamToTable,
  'window-aggregate': windowAggregate,
};

const missing: Readonly<Record<string, string | undefined>> = {
  cogroup: 'cogroup',
  'stream-stream-join': 'stream–stream join',
  'table-filter': 'table filter',
  'table-groupby-aggregate': 'table groupBy',
  'table-groupby-value-count-suppress': 'suppress',
  'table-suppress-groupby-count': 'suppress',
  'table-table-fk-join': 'table–table foreign-key join',
  'table-table-join': 'table–table join',
};

/** @throws NotBuiltError when something the definition needs is not there */
export function buildTopology(definition: JsonObject): Topology {
  const op = text(definition, 'op');
  const declare = operations[op];
  if (declare === undefined) throw new NotBuiltError(missing[op] ?? `operation ${op}`);
  if (definition.config !== undefined) throw new NotBuiltError('topology optimisation');
  const builder = new StreamsBuilder();
  declare(builder, definition);
  return builder.build();
}
