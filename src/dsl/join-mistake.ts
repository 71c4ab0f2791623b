/**
 * What the compiler is to say of a join that fits no other overload: it reports the last one, whose first parameter takes nothing and is typed with the cure. Without it a join of
 * two streams that lacks its windows is told to lack the methods of a table.
 */
export type JoinMistake<O> = O extends { readonly kind: 'stream' }
  ? 'a join with a stream needs a third argument with `windows`, made by joinWindows; the keys of both streams are of one type, and `valueSerde` is for what the joiner gives'
  : O extends { readonly kind: 'globalTable' }
    ? 'a join with a global table needs a third argument with `keyOf`, which gives the key of its row'
    : O extends { readonly kind: 'table' }
      ? 'the keys of stream and table are of one type, the joiner takes (value, row, key), and `valueSerde` is for what it gives'
      : 'a stream is joined with a stream, a table or a global table';

/** What a stream can be joined with, of whatever keys and values. */
export interface AnyJoinable {
  readonly kind: 'stream' | 'table' | 'globalTable';
}
