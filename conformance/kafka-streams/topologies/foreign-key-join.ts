/** `table-table-fk-join`: kind, joiner, leftStore, rightStore, fk (how the foreign key is found in a left value). */
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { NotBuiltError, type JsonObject } from '../../case.js';
import { consumed, joiner, table } from './inputs.js';

export function foreignKeyJoin(builder: StreamsBuilder, definition: JsonObject): void {
  const left = table(builder, 'L', definition, 'leftStore', 'left');
  const right = table(builder, 'R', definition, 'rightStore', 'right');
  const join = joiner(definition);
  const options = { foreignKey: foreignKeyOf(definition), materialized: { ...consumed, storeName: 'res' } };
  const joined = definition.kind === 'inner' ? left.join(right, join, options) : left.leftJoin(right, join, options);
  joined.toStream().to('OUT', consumed);
}

function foreignKeyOf({ fk = 'after-bar' }: JsonObject): (value: string) => string | null {
  switch (fk) {
    case 'null':
      return () => null;
    case 'after-bar':
      return afterBar;
    case 'after-bar-or-null':
      return (value) => (afterBar(value) === 'returnNull' ? null : afterBar(value));
    default:
      throw new NotBuiltError(`foreign key ${JSON.stringify(fk)}`);
  }
}

function afterBar(value: string): string {
  const part = value.split('|')[1];
  if (part === undefined) throw new Error(`no foreign key in ${value}`);
  return part;
}
