/** From `materialized` options to the spec of a store. */
import { shown } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import type { SessionWindows } from '../time/session-windows.js';
import type { SlidingWindows } from '../time/sliding-windows.js';
import type { TimeWindows } from '../time/time-windows.js';
import { checkResourceName } from '../topology/resource-name.js';
import type { StreamGraph } from './graph/stream-graph.js';
import { requireOneOf } from './checked-arguments.js';
import type {
  EmitOnChangeOption,
  ResultMaterializedOptions,
  TableEmitOption,
  WindowEmitOption,
  WindowMaterializedOptions,
} from './options.js';

export type AnyWindows = TimeWindows | SlidingWindows | SessionWindows;

/** Serdes to use where the options name none. */
export interface CarriedSerdes<K, V> {
  readonly keySerde: Serde<K> | null;
  readonly valueSerde: Serde<V> | null;
}

export function tableStore<K, V>(
  graph: StreamGraph,
  storePrefix: string,
  materialized: ResultMaterializedOptions<K, V> | undefined,
  carried: CarriedSerdes<K, V>,
  emission: Emission<TableEmitOption>,
): StoreSpec {
  requireOneOf('emit', emission.emit, ['onUpdate', 'onCommit']);
  const common = commonSpec(graph, storePrefix, materialized, carried);
  if (materialized?.historyRetention !== undefined) {
    if (emission.emitOnChange === true) throw versionsAllLeave(common.name);
    return versionedStore(common, materialized.historyRetention);
  }
  return Object.freeze({ ...common, kind: 'timestampedKeyValue', rows: 'byKey', ...tracking(emission) });
}

/** When changes leave, and whether those that change nothing do. */
interface Emission<E> extends EmitOnChangeOption {
  readonly emit?: E | undefined;
}

function tracking({ emit, emitOnChange }: Emission<WindowEmitOption>): Pick<StoreSpec, 'trackChanges' | 'comparesChanges'> {
  if (emitOnChange === true) return { trackChanges: true, comparesChanges: true };
  return { trackChanges: emit === undefined ? 'ifEmittingOnCommit' : emit === 'onCommit' };
}

/** Whoever looks into the past needs every version, equal ones too. */
export function versionsAllLeave(table: string): MillraceError {
  return new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `${table}: emitOnChange is not for versioned tables, whose versions all go downstream.`,
    {
      details: { table },
    },
  );
}

/** @throws MILL_TOPOLOGY_INVALID when nothing would be kept that results could be compared with */
export function checkResultsAreKept({ emitOnChange }: EmitOnChangeOption, isKept: boolean, wanted: string): void {
  if (emitOnChange !== true || isKept) return;
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `emitOnChange needs ${wanted}: without it the table is not kept, and nothing can be compared.`,
  );
}

/** For operators that keep their result only under a name. @throws MILL_TOPOLOGY_INVALID when versions are asked for without one */
export function checkVersionsAreKept<K, V>(materialized: ResultMaterializedOptions<K, V> | undefined): void {
  if (materialized?.historyRetention === undefined || materialized.storeName !== undefined) return;
  throw new MillraceError('MILL_TOPOLOGY_INVALID', 'materialized: historyRetention needs a storeName: without one the table is not kept.');
}

function versionedStore(common: Omit<StoreSpec, 'kind'>, historyRetention: number): StoreSpec {
  if (!Number.isSafeInteger(historyRetention) || historyRetention < 0) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store ${common.name}: historyRetention must be a whole number of milliseconds, 0 or more, not ${shown(historyRetention)}.`,
      { details: { store: common.name, historyRetention } },
    );
  }
  return Object.freeze({ ...common, kind: 'versioned', historyRetention });
}

/** What a windowed store needs to know of its windows. */
interface WindowStoreKind {
  readonly kind: 'timestampedWindow' | 'session' | 'slidingWindow';
  readonly windowSize: number;
  /** Shortest retention that loses no open window, ms. */
  readonly shortest: number;
}

/** @throws MILL_TOPOLOGY_INVALID when `retention` is below what the windows need: they would be gone while they still take records. */
export function windowTableStore<K, V>(
  graph: StreamGraph,
  storePrefix: string,
  materialized: WindowMaterializedOptions<K, V> | undefined,
  carried: CarriedSerdes<K, V>,
  emission: Emission<WindowEmitOption>,
  windows: AnyWindows,
): StoreSpec {
  const { emit, emitOnChange } = emission;
  requireOneOf('emit', emit, ['onUpdate', 'onCommit', 'onWindowClose']);
  const common = commonSpec(graph, storePrefix, materialized, carried);
  if (emit === 'onWindowClose' && windows.kind === 'unlimited') {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store ${common.name}: emit "onWindowClose" is not for unlimited windows, which never close: nothing would ever be told.`,
      { details: { store: common.name } },
    );
  }
  if (emit === 'onWindowClose' && emitOnChange === true) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store ${common.name}: leave emitOnChange out: with onWindowClose each window leaves only once.`,
      {
        details: { store: common.name },
      },
    );
  }
  if (materialized?.historyRetention !== undefined) {
    throw new MillraceError('MILL_TOPOLOGY_INVALID', `Store ${common.name}: windows have no versions; leave historyRetention out.`, {
      details: { store: common.name },
    });
  }
  const { kind, windowSize, shortest } = storeKindFor(windows);
  const retention = materialized?.retention ?? shortest;
  if (!(retention >= shortest)) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store ${common.name}: a retention of ${retention} ms is shorter than the windows' size and grace, ${shortest} ms.`,
      { details: { store: common.name, retention, shortest } },
    );
  }
  return Object.freeze({
    ...common,
    kind,
    windowSize,
    retention,
    ...tracking(emission),
    closeTracking: emit === 'onWindowClose',
  });
}

function storeKindFor(windows: AnyWindows): WindowStoreKind {
  switch (windows.kind) {
    case 'session':
      return { kind: 'session', windowSize: 0, shortest: windows.gap + windows.grace };
    case 'sliding':
      return { kind: 'slidingWindow', windowSize: windows.timeDifference, shortest: windows.retention };
    default:
      return { kind: 'timestampedWindow', windowSize: windows.size, shortest: windows.size + windows.grace };
  }
}

function commonSpec<K, V>(
  graph: StreamGraph,
  storePrefix: string,
  materialized: ResultMaterializedOptions<K, V> = {},
  carried: CarriedSerdes<K, V>,
): Omit<StoreSpec, 'kind'> {
  const { storeName, engine = null, logged = true, changelogConfigs = {} } = materialized;
  return {
    name: storeName === undefined ? graph.newStoreName(storePrefix) : checkResourceName(storeName, 'store'),
    keySerde: serdeOf(materialized.keySerde) ?? carried.keySerde,
    valueSerde: serdeOf(materialized.valueSerde) ?? carried.valueSerde,
    engine,
    logged,
    changelogConfigs: Object.freeze({ ...changelogConfigs }),
  };
}
