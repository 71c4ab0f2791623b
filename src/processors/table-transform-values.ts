/**
 * A table with other values under the same keys, which an object of the user's makes (KTableTransformValues): it may have stores and timers, and it sees deleted
 * rows too.
 *
 * A table without a store has no rows to look up: an operator that looks into it gets a transformer of its own, which computes the row from the parent's, also one that the parent
 * does not have.
 */
import { noHeaders, type Headers } from '../bytes/headers.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { ValueAndTimestamp } from '../stores/store.js';
import { defined } from './defined-result.js';
import { initAtOnce } from './result-at-once.js';
import { ForwardScope } from './forward-scope.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';
import { RecordMeta } from './record-meta.js';
import type { TableGetter, TableGetterSupplier } from './table-getter.js';
import { TableTransform, type TableTransformOptions } from './table-transform.js';
import { BaseUserContext } from './user-context.js';
import type { Awaitable } from './user-functions.js';
import type { ValueTransformer, ValueTransformerSupplier } from './value-transformer.js';

export interface TableTransformValuesOptions<K, V, R> extends TableTransformOptions {
  readonly supplier: ValueTransformerSupplier<K, V, R>;
}

export function tableTransformValuesOperator<K, V, R>(options: TableTransformValuesOptions<K, V, R>): OperatorSupplier {
  return () => new TableTransformValuesOperator(options);
}

/** @param stores that the transformer uses, for the operator that looks up */
export function transformedGetter<K, V, R>(
  parent: TableGetterSupplier<K, V>,
  supplier: ValueTransformerSupplier<K, V, R>,
  stores: readonly string[],
): TableGetterSupplier<K, R> {
  return {
    stores: [...new Set([...parent.stores, ...stores])],
    open: (context) => new TransformedGetter(parent.open(context), supplier(), context),
  };
}

class TableTransformValuesOperator<K, V, R> extends TableTransform<K, V, R> {
  protected readonly skipsAbsent = false;
  private readonly transformer: ValueTransformer<K, V, R>;
  private readonly transform: Transform<K, V, R>;

  constructor(options: TableTransformValuesOptions<K, V, R>) {
    super(options);
    this.transformer = options.supplier();
    this.transform = transformOf(this.transformer);
  }

  override init(context: OperatorContext): void {
    super.init(context);
    initAtOnce(context.nodeName, this.transformer.init?.(new TransformerContext(context)));
  }

  close(): MaybeAsync {
    return this.transformer.close?.();
  }

  protected compute(value: V | null, key: K): Awaitable<R | null> {
    return this.transform(value ?? null, key, this.meta);
  }
}

class TransformedGetter<K, V, R> implements TableGetter<K, R> {
  readonly versioned: boolean;
  private readonly meta = new LookedUpMeta();
  private readonly transform: Transform<K, V, R>;

  constructor(
    private readonly parent: TableGetter<K, V>,
    transformer: ValueTransformer<K, V, R>,
    context: OperatorContext,
  ) {
    this.versioned = parent.versioned;
    this.transform = transformOf(transformer);
    initAtOnce(context.nodeName, transformer.init?.(new LookUpContext(context)));
    context.onClose(() => transformer.close?.());
  }

  getValue(key: K): Awaitable<R | null> {
    const row = this.get(key);
    return isPromiseLike(row) ? valueLater(row) : (row?.value ?? null);
  }

  get(key: K): Awaitable<Row<R>> {
    return this.computed(this.parent.get(key), key);
  }

  getAsOf(key: K, asOf: number): Awaitable<Row<R>> {
    return this.computed(this.parent.getAsOf(key, asOf), key);
  }

  private computed(row: Awaitable<Row<V>>, key: K): Awaitable<Row<R>> {
    return isPromiseLike(row) ? this.computeLater(row, key) : this.compute(row, key);
  }

  private compute(row: Row<V>, key: K): Awaitable<Row<R>> {
    const timestamp = row === null ? noTimestamp : row.timestamp;
    this.meta.timestamp = timestamp;
    const value = this.transform(row === null ? null : row.value, key, this.meta);
    return isPromiseLike(value) ? rowLater(value, timestamp) : rowOf(value, timestamp);
  }

  private async computeLater(row: PromiseLike<Row<V>>, key: K): Promise<Row<R>> {
    return this.compute(await row, key);
  }
}

type Row<V> = ValueAndTimestamp<V> | null;
type Transform<K, V, R> = (value: V | null, key: K, meta: RecordMeta) => Awaitable<R | null>;

/** Of a row that is not there. */
const noTimestamp = -1;

function transformOf<K, V, R>(transformer: ValueTransformer<K, V, R>): Transform<K, V, R> {
  return defined('transformValues: transform', (value: V | null, key: K, meta: RecordMeta) => transformer.transform(value, key, meta));
}

function rowOf<R>(value: R | null, timestamp: number): Row<R> {
  return value === null ? null : { value, timestamp };
}

async function rowLater<R>(value: PromiseLike<R | null>, timestamp: number): Promise<Row<R>> {
  return rowOf(await value, timestamp);
}

async function valueLater<R>(row: PromiseLike<Row<R>>): Promise<R | null> {
  return (await row)?.value ?? null;
}

/** A transformer forwards nothing: there is nothing to forward with. */
class TransformerContext extends BaseUserContext {
  constructor(context: OperatorContext) {
    super(context, new ForwardScope(context));
  }
}

/** The record in work is not the one that made the row. */
class LookUpContext extends TransformerContext {
  override recordMetadata(): null {
    return null;
  }
}

class LookedUpMeta extends RecordMeta {
  readonly topic = null;
  readonly partition = -1;
  readonly offset = -1;
  timestamp = noTimestamp;

  headers(): Headers {
    return noHeaders;
  }
}
