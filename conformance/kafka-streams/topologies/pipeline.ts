/**
 * `pipeline`: from `stream` or `table` (leftStore), stages one after the other, each on what the one before left; named: whether stages have names;
 * tableStore: how the table of T, which stages join, is kept. This file does the stages of tables.
 */
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { untilTimeLimit } from '../../../src/dsl/suppressed.js';
import { isObject, list, NotBuiltError, object, type JsonObject } from '../../case.js';
import { consumed, suppressBuffer, table } from './inputs.js';
import { firstOrNull, keeps, mark, pair, PipelineStage, printed } from './pipeline-stage.js';
import { callsStore, RowTransformer } from './row-transformer.js';
import { applyToStream, type TextStream, type TextTable } from './pipeline-streams.js';

export function pipeline(builder: StreamsBuilder, definition: JsonObject): void {
  let right: TextTable | null = null;
  const inputs = {
    other: once(() => builder.stream('R', consumed)),
    table: () => (right ??= table(builder, 'T', definition, 'tableStore', 'right')),
    global: once(() => builder.globalTable('G', { ...consumed, materialized: { storeName: 'global' } })),
  };
  let current: TextStream | TextTable =
    definition.from === 'table' ? table(builder, 'L', definition, 'leftStore', 'left') : builder.stream('L', consumed);
  list(definition, 'stages').forEach((value, index) => {
    const stage = new PipelineStage(isObject(value) ? value : {}, index, definition.named === true);
    current = current.kind === 'table' ? applyToTable(current, stage, inputs.table) : applyToStream(builder, current, stage, inputs);
  });
  (current.kind === 'table' ? current.toStream() : current).to('OUT', consumed);
}

function applyToTable(rows: TextTable, stage: PipelineStage, right: () => TextTable): TextStream | TextTable {
  const options = { ...stage.named(), ...stage.kept() };
  switch (stage.action) {
    case 'filter':
      return rows.filter(keeps, options);
    case 'filterNot':
      return rows.filterNot(keeps, options);
    case 'mapValues':
      return rows.mapValues(mark, { ...options, valueSerde: consumed.valueSerde });
    case 'transformValues': {
      const { sees, state } = stage;
      const used = sees === 'state' ? [callsStore(state)] : [];
      return rows.transformValues(() => new RowTransformer(sees, state), { ...options, valueSerde: consumed.valueSerde, stores: used });
    }
    case 'toStream':
      return rows.toStream(stage.named());
    case 'suppress':
      return rows.suppress(untilTimeLimit(stage.millis('timeLimitMs'), suppressBuffer(object(stage.definition, 'buffer'))), stage.named());
    case 'join':
      return joinTables(rows, right(), stage);
    case 'fkJoin': {
      const keyed = { foreignKey: firstOrNull, ...stage.named(), ...stage.rows() };
      return stage.kind === 'inner' ? rows.join(right(), pair, keyed) : rows.leftJoin(right(), pair, keyed);
    }
    case 'groupBy':
      return group(rows, stage);
    default:
      throw new NotBuiltError(`stage of a table ${stage.action}`);
  }
}

function joinTables(left: TextTable, right: TextTable, stage: PipelineStage): TextTable {
  const options = { ...stage.named(), ...stage.kept() };
  switch (stage.kind) {
    case 'inner':
      return left.join(right, pair, options);
    case 'left':
      return left.leftJoin(right, pair, options);
    case 'outer':
      return left.outerJoin(right, pair, options);
    default:
      throw new NotBuiltError(`kind ${stage.kind}`);
  }
}

function group(rows: TextTable, stage: PipelineStage): TextTable {
  const grouped = rows.groupBy((value) => [stage.rekey(value) as string, value], { ...consumed, ...stage.named('group') });
  const add = (all: string, value: string): string => `${all}+${value}`;
  const subtract = (all: string, value: string): string => `${all}-${value}`;
  switch (stage.aggregate) {
    case 'count':
      return printed(grouped.count({ ...stage.named(), ...stage.counts() }));
    case 'reduce':
      return grouped.reduce(add, subtract, { ...stage.named(), ...stage.rows() });
    case 'aggregate':
      return grouped.aggregate(() => '0', add, subtract, { ...stage.named(), ...stage.rows() });
    default:
      throw new NotBuiltError(`aggregate ${stage.aggregate}`);
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
