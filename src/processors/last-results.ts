/**
 * Batch mode: keeps the last result of each key and tells it once, at the end of the input, in the order of the key bytes.
 *
 * What is kept lies in a store, so that it needs no memory of its own, survives a crash, and leaves with the epoch that tells it. A key is told as it is then: null when its row is
 * gone. Many are told in portions, so that commits, and whoever wants to close the app, have their turn.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
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

/** A portion ends with so many rows, or when it has taken so long. */
const portionRows = 1000;
const portionMs = 20;

/** In the place of `toStream`. */
export function lastTableResults(storeName: string): OperatorSupplier {
  return () => new LastTableResults(storeName);
}

/** Behind an operator whose results come again for the same key. */
export function lastStreamResults(storeName: string): OperatorSupplier {
  return () => new LastStreamResults(storeName);
}

abstract class LastResultsOperator<K, V, VIn> extends NodeOperator<K, VIn> {
  declare private store: TimestampedKeyValueStore<K, LastValue<V>>;
  /** Where the next portion begins; null: at the first row. */
  private from: K | null = null;
  readonly holdsResults = true;

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

  protected keep(key: K, value: V | null, timestamp: number): void {
    this.from = null;
    this.store.put(key, value ?? gone, timestamp);
  }

  async onEndOfInput(): Promise<void> {
    const { store, from } = this;
    this.from = null;
    const endsAt = performance.now() + portionMs;
    let told = 0;
    for await (const [key, { value, timestamp }] of store.range(from === null ? {} : { from })) {
      if (told === portionRows || (told > 0 && performance.now() >= endsAt)) {
        this.from = key;
        return;
      }
      told++;
      store.put(key, null, timestamp);
      const pending = this.downstream.process(key, value === gone ? null : value, timestamp);
      if (pending !== undefined) await pending;
    }
  }
}

class LastTableResults<K, V> extends LastResultsOperator<K, V, Change<V>> {
  process(key: K, { newValue, isLatest }: Change<V>, timestamp: number): MaybeAsync {
    if (isLatest) this.keep(key, newValue, timestamp);
  }
}

class LastStreamResults<K, V> extends LastResultsOperator<K, V, V> {
  process(key: K, value: V, timestamp: number): MaybeAsync {
    this.keep(key, value, timestamp);
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
