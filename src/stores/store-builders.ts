/** Store specs: what a user says of a store. Plain data, checked here, built for each task later. */
import { MillraceError } from '../errors.js';
import {
  shown,
  anything,
  flag,
  oneOf,
  requireArgument,
  requireOptions,
  serde,
  text,
  texts,
  type OptionShape,
  type ShapeOf,
} from '../errors/checked-options.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreKind, StoreSpec } from './store.js';

/** What every store takes. */
export interface StoreOptions<K, V> {
  /** Unique in the topology: letters, digits, `.`, `_`, `-`. The changelog is `<applicationId>-<name>-changelog`. */
  readonly name: string;
  /** Default: the app's. */
  readonly keySerde?: Serde<K>;
  /** Default: the app's. */
  readonly valueSerde?: Serde<V>;
  /** Default: the app's (`leveldb`). */
  readonly engine?: 'memory' | 'leveldb';
  /** False: no changelog, nothing is restored after a crash. Default true. */
  readonly logged?: boolean;
  /** Extra configs of the changelog topic; they win over the library's. */
  readonly changelogConfigs?: Readonly<Record<string, string>>;
  /** Keeps the list that `drainChanges` needs. Default false. */
  readonly trackChanges?: boolean;
}

/** For `stores.window` and `stores.timestampedWindow`. */
export interface WindowStoreOptions<K, V> extends StoreOptions<K, V> {
  /** Milliseconds. */
  readonly windowSize: number;
  /** Milliseconds that rows are kept after the highest window start seen; at least `windowSize`. */
  readonly retention: number;
  /** Keeps rows until `drainClosed` saw them. Default false. */
  readonly closeTracking?: boolean;
}

const engine = oneOf('memory', 'leveldb');

/** What every store's options may be. */
export const storeShape = {
  name: anything,
  keySerde: serde,
  valueSerde: serde,
  engine,
  logged: flag,
  changelogConfigs: texts,
  trackChanges: flag,
} satisfies ShapeOf<StoreOptions<unknown, unknown>>;

const windowShape = { ...storeShape, windowSize: anything, retention: anything, closeTracking: flag } satisfies ShapeOf<
  WindowStoreOptions<unknown, unknown>
>;

/** A key-value store of plain values. Errors: MILL_TOPOLOGY_INVALID. */
export function keyValueStore<K = unknown, V = unknown>(options: StoreOptions<K, V>): StoreSpec {
  return specOf('keyValue', options);
}

/** A key-value store whose rows have timestamps. Errors: MILL_TOPOLOGY_INVALID. */
export function timestampedKeyValueStore<K = unknown, V = unknown>(options: StoreOptions<K, V>): StoreSpec {
  return specOf('timestampedKeyValue', options);
}

/** A window store of plain values. Errors: MILL_TOPOLOGY_INVALID. */
export function windowStore<K = unknown, V = unknown>(options: WindowStoreOptions<K, V>): StoreSpec {
  return windowSpecOf('window', options);
}

/** A window store whose rows have timestamps. Errors: MILL_TOPOLOGY_INVALID. */
export function timestampedWindowStore<K = unknown, V = unknown>(options: WindowStoreOptions<K, V>): StoreSpec {
  return windowSpecOf('timestampedWindow', options);
}

/** Names become part of a topic's name and of paths. */
const legalName = /^[a-zA-Z0-9._-]{1,200}$/;

export function specOf<K, V>(kind: StoreKind, options: StoreOptions<K, V>, shape: OptionShape = storeShape): StoreSpec {
  requireOptions(`stores.${kind}`, options, shape);
  requireArgument(`stores.${kind}: the name`, options.name, text);
  if (!legalName.test(options.name)) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store name ${JSON.stringify(options.name)}: letters, digits, '.', '_' and '-' only, 1 to 200 of them`,
    );
  }
  return Object.freeze({
    name: options.name,
    kind,
    keySerde: options.keySerde ?? null,
    valueSerde: options.valueSerde ?? null,
    engine: options.engine ?? null,
    logged: options.logged ?? true,
    changelogConfigs: Object.freeze({ ...options.changelogConfigs }),
    trackChanges: options.trackChanges ?? false,
  });
}

function windowSpecOf<K, V>(kind: StoreKind, options: WindowStoreOptions<K, V>): StoreSpec {
  requireOptions(`stores.${kind}`, options, windowShape);
  const { name, windowSize, retention } = options;
  if (!Number.isSafeInteger(windowSize) || windowSize < 0) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store ${name}: windowSize must be a whole number of milliseconds, not ${shown(windowSize)}`,
    );
  }
  if (!Number.isSafeInteger(retention) || retention < windowSize) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store ${name}: retention (${retention} ms) must be at least windowSize (${windowSize} ms)`,
    );
  }
  return Object.freeze({ ...specOf(kind, options, windowShape), windowSize, retention, closeTracking: options.closeTracking ?? false });
}
