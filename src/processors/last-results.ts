/**
 * Batch mode: `toStream` of a table keeps the last change of each key and tells it once, at the end of the input, in the order of the key bytes.
 *
 * What is kept lies in a store, so that it needs no memory of its own, survives a crash, and leaves with the epoch that tells it. A key is told as it is then: null when its row is
 * gone. Many rows are told in portions, so that they fit into epochs of the usual length.
 */
import type { ByteWriter } from '../bytes/byte-writer.js';
import { compileSerde } from '../serdes/compile-serde.js';
import { inPlaceSerde } from '../serdes/in-place-serde.js';
import type { Serde, SerdeUse } from '../serdes/serde.js';
import type { TimestampedKeyValueStore } from '../stores/store.js';
import { keyValueStore } from './connected-store.js';
import { NodeOperator } from './node-operator.js';
import type { Change, OperatorContext, OperatorSupplier } from './operator.js';

/** Stands for null, which in a store is no row. */
const gone = Object.freeze({ isGone: true });
type LastValue<V> = V | typeof gone;

/** Rows that are told before others of the task have their turn, or a commit. */
const portion = 10_000;

export function lastResultsOperator(storeName: string): OperatorSupplier {
  return () => new LastResultsOperator(storeName);
}

class LastResultsOperator<K, V> extends NodeOperator<K, Change<V>> {
  declare private store: TimestampedKeyValueStore<K, LastValue<V>>;
  /** Where the next portion begins; null: at the first row. */
  private from: K | null = null;

  constructor(private readonly storeName: string) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = keyValueStore(context, this.storeName);
  }

  /** True until the last portion was told. */
  get hasMoreResults(): boolean {
    return this.from !== null;
  }

  process(key: K, { newValue, isLatest }: Change<V>, timestamp: number): void {
    this.from = null;
    if (isLatest) this.store.put(key, newValue ?? gone, timestamp);
  }

  async onEndOfInput(): Promise<void> {
    const { store, from } = this;
    this.from = null;
    let told = 0;
    for await (const [key, { value, timestamp }] of store.range(from === null ? {} : { from })) {
      if (told++ === portion) {
        this.from = key;
        return;
      }
      store.put(key, null, timestamp);
      const pending = this.downstream.process(key, value === gone ? null : value, timestamp);
      if (pending !== undefined) await pending;
    }
  }
}

/** A byte that says whether there is a value, then the value. */
export function lastValueSerde<V>(valueSerde: Serde<V>): Serde<LastValue<V>> {
  const inner = compileSerde(valueSerde);
  const serde = inPlaceSerde<LastValue<V>>({
    name: `last(${inner.name})`,
    encode: (value, out: ByteWriter) => {
      out.writeByte(value === gone ? 0 : 1);
      if (value !== gone) inner.encode(value as V, out);
    },
    decode: (buffer, start, end) => (buffer[start] === 0 ? gone : inner.decodeSync(buffer, start + 1, end)),
  });
  return Object.freeze({
    ...serde,
    prepare: async (use: SerdeUse) => {
      await valueSerde.prepare?.(use);
    },
  });
}
