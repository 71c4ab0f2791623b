/** `count` of a grouped stream: how many records with a value each key has had. */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { TableEmit } from './emit.js';
import type { OperatorSupplier } from './operator.js';
import { TableOperator } from './table-operator.js';

export interface StreamCountOptions {
  readonly storeName: string;
  readonly emit: TableEmit;
}

export function streamCountOperator(options: StreamCountOptions): OperatorSupplier {
  return () => new StreamCountOperator(options.storeName, options.emit);
}

/** Stands apart from the other aggregations because it calls no user function: nothing here can be a promise. */
class StreamCountOperator<K, V> extends TableOperator<K, V, number> {
  readonly ignoresValue = true;

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return;
    }
    const entry = this.store.locate(key);
    const before = entry.value;
    if (before === null) return this.update(entry, key, 1, null, timestamp);
    return this.update(entry, key, before + 1, before, entry.timestamp > timestamp ? entry.timestamp : timestamp);
  }
}
