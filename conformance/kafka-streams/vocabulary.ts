/** Topologies by the `op` of a case. What an operation means in Java is told by the reference oracle; what it means here, by one file each in `topologies/`. */
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { Optimization } from '../../src/dsl/graph/write-graph.js';
import type { Topology } from '../../src/topology/nodes.js';
import { isObject, NotBuiltError, text, type JsonObject } from '../case.js';
import { checkDefinition } from './definition-rules.js';
import { cogroup } from './topologies/cogroup.js';
import { foreignKeyJoin } from './topologies/foreign-key-join.js';
import { merge, sourceTable, streamRepartition, streamToTable } from './topologies/plain.js';
import { pipeline } from './topologies/pipeline.js';
import { streamAggregate } from './topologies/stream-aggregate.js';
import { streamGlobalTableJoin } from './topologies/stream-global-table-join.js';
import { streamStreamJoin } from './topologies/stream-stream-join.js';
import { streamTableJoin } from './topologies/stream-table-join.js';
import { tableTableJoin } from './topologies/table-table-join.js';
import { tableFilter } from './topologies/table-filter.js';
import { tableGroupByAggregate, tableGroupByValueCountSuppress, tableSuppressGroupByCount } from './topologies/table-groupby.js';
import { windowAggregate } from './topologies/window-aggregate.js';

export type DeclareTopology = (builder: StreamsBuilder, definition: JsonObject) => void;

export const operations: Readonly<Record<string, DeclareTopology | undefined>> = {
  cogroup,
  merge,
  'source-table': sourceTable,
  'stream-aggregate': streamAggregate,
  'stream-globaltable-join': streamGlobalTableJoin,
  'stream-repartition': streamRepartition,
  'stream-stream-join': streamStreamJoin,
  'stream-table-join': streamTableJoin,
  'stream-to-table': streamToTable,
  'table-table-fk-join': foreignKeyJoin,
  'table-table-join': tableTableJoin,
  'table-filter': tableFilter,
  'table-groupby-aggregate': tableGroupByAggregate,
  'table-groupby-value-count-suppress': tableGroupByValueCountSuppress,
  'table-suppress-groupby-count': tableSuppressGroupByCount,
  'window-aggregate': windowAggregate,
  pipeline,
};

/** @throws NotBuiltError when something the definition needs is not there */
export function buildTopology(definition: JsonObject): Topology {
  checkDefinition(definition);
  const op = text(definition, 'op');
  const declare = operations[op];
  if (declare === undefined) throw new NotBuiltError(`operation ${op}`);
  const builder = new StreamsBuilder();
  declare(builder, definition);
  return builder.build({ optimizations: optimizationsOf(definition) });
}

const optimizations: Readonly<Record<string, readonly Optimization[]>> = {
  all: ['singleStoreSelfJoin', 'mergeRepartitions', 'reuseSourceTopics'],
  none: [],
  'single.store.self.join': ['singleStoreSelfJoin'],
  'merge.repartition.topics': ['mergeRepartitions'],
  'reuse.ktable.source.topics': ['reuseSourceTopics'],
};

/** The optimisations that `topology.optimization` lists. */
function optimizationsOf({ config }: JsonObject): readonly Optimization[] {
  const chosen = isObject(config) ? config['topology.optimization'] : undefined;
  if (typeof chosen !== 'string') return [];
  return chosen.split(',').flatMap((name) => {
    const known = optimizations[name.trim()];
    if (known === undefined) throw new NotBuiltError(`optimisation ${name}`);
    return known;
  });
}
