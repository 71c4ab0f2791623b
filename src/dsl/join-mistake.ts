/**
 * What the compiler is to say of a join that fits no other overload: it reports the last one, whose first parameter takes nothing and is typed with the cure. Without it a join of
 * two streams that lacks its windows is told to lack the methods of a table.
 */
export type JoinMistake<O> = O extends { readonly kind: 'stream' }
  ? 'a join with a stream needs a third argument with `windows`, made by joinWindows; the keys of both streams are of one type, and `valueSerde` is for what the joiner gives: a value or null, never undefined'
  : O extends { readonly kind: 'globalTable' }
    ? 'a join with a global table needs a third argument with `keyOf`, which gives the key of its row; the joiner gives a value or null, never undefined'
    : O extends { readonly kind: 'table' }
      ? 'the keys of stream and table are of one type, the joiner takes (value, row, key), and `valueSerde` is for what it gives: a value or null, never undefined'
      : 'a stream is joined with a stream, a table or a global table';

/** What a stream can be joined with, of whatever keys and values. */
export interface AnyJoinable {
  readonly kind: 'stream' | 'table' | 'globalTable';
}

/** The same for joins of tables, by the name of the call. */
export type TableJoinMistake<O, Call extends keyof TableJoiners> = O extends { readonly kind: 'table' }
  ? `${KeysOf<Call>} the joiner takes ${TableJoiners[Call]} and gives what \`materialized.valueSerde\` writes: a value or null, never undefined`
  : O extends { readonly kind: 'stream' }
    ? 'a table is joined with a table: a stream joins a table by its own join, and becomes one by toTable'
    : 'a table is joined with a table: a global table is joined by a stream, whose join takes `keyOf`';

/** What a joiner of tables is given. */
interface TableJoiners {
  readonly join: '(value, otherValue, key)';
  readonly leftJoin: '(value, otherValue or null, key)';
  readonly outerJoin: '(value or null, otherValue or null, key)';
}

type KeysOf<Call> = Call extends 'outerJoin'
  ? 'the keys of both tables are of one type (there is no outer join by foreign key), and'
  : 'the keys of both tables are of one type, or the third argument has `foreignKey`, which gives a key of the other one; and';
