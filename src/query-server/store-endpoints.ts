/** What can be asked of a store over HTTP: parameters in, a query out. */
import { MillraceError } from '../errors.js';
import { queries } from '../queries/query.js';
import type { PageOptions, Query } from '../queries/query.js';
import type { QueryIterator } from '../queries/query-iterator.js';
import type { StoreInfo } from '../queries/store-info.js';
import type { Parameters } from './parameters.js';

export interface AskedQuery {
  readonly query: Query<unknown>;
  /** undefined: it is not about one key. */
  readonly key: unknown;
}

export interface StoreEndpoint {
  /** Behind `/stores/<name>/`. */
  readonly path: string;
  readonly kind: StoreInfo['kind'];
  readonly parameters: readonly string[];
  /** Gives rows, not one value. */
  readonly hasRows: boolean;
  ask(store: StoreInfo, parameters: Parameters, page: PageOptions): AskedQuery;
}

const paging = ['reverse', 'limit', 'after'];
const times = ['from', 'to'];
const keyTimes = ['key', ...times];

export const storeEndpoints: readonly StoreEndpoint[] = [
  {
    path: 'key',
    kind: 'keyValue',
    parameters: ['key'],
    hasRows: false,
    ask: (store, parameters) => {
      const key = parameters.key('key', store.keySerde);
      return { key, query: store.storeKind === 'keyValue' ? queries.key(key) : queries.timestampedKey(key) };
    },
  },
  {
    path: 'range',
    kind: 'keyValue',
    parameters: ['from', 'to', 'prefix', ...paging],
    hasRows: true,
    ask: (store, parameters, page) => ({
      key: undefined,
      query: queries.range({
        ...page,
        ...(parameters.has('from') && { from: parameters.key('from', store.keySerde) }),
        ...(parameters.has('to') && { to: parameters.key('to', store.keySerde) }),
        ...(parameters.has('prefix') && { prefix: parameters.required('prefix') }),
      }),
    }),
  },
  {
    path: 'window',
    kind: 'window',
    parameters: ['key', 'start'],
    hasRows: false,
    ask: (store, parameters) => {
      const key = parameters.key('key', store.keySerde);
      return { key, query: queries.window(key, parameters.requiredInteger('start')) };
    },
  },
  {
    path: 'windows',
    kind: 'window',
    parameters: [...keyTimes, ...paging],
    hasRows: true,
    ask: (store, parameters, page) => {
      const options = { ...timesOf(parameters), ...page };
      const key = parameters.optionalKey('key', store.keySerde);
      return { key, query: key === undefined ? queries.windowRange(options) : queries.windowKey(key, options) };
    },
  },
  {
    path: 'session',
    kind: 'session',
    parameters: ['key', 'start', 'end'],
    hasRows: false,
    ask: (store, parameters) => {
      const key = parameters.key('key', store.keySerde);
      return { key, query: queries.session(key, parameters.requiredInteger('start'), parameters.requiredInteger('end')) };
    },
  },
  {
    path: 'sessions',
    kind: 'session',
    parameters: [...keyTimes, ...paging],
    hasRows: true,
    ask: (store, parameters, page) => {
      const options = { ...timesOf(parameters), ...page };
      const key = parameters.optionalKey('key', store.keySerde);
      return { key, query: key === undefined ? queries.sessionRange(options) : queries.sessionKey(key, options) };
    },
  },
  {
    path: 'version',
    kind: 'versioned',
    parameters: ['key', 'asOf'],
    hasRows: false,
    ask: (store, parameters) => {
      const key = parameters.key('key', store.keySerde);
      const asOf = parameters.integer('asOf');
      return { key, query: queries.versionedKey(key, asOf === undefined ? {} : { asOf }) };
    },
  },
  {
    path: 'versions',
    kind: 'versioned',
    parameters: [...keyTimes, 'ascending'],
    hasRows: false,
    ask: (store, parameters) => {
      const key = parameters.key('key', store.keySerde);
      return { key, query: queries.versionHistory(key, { ...timesOf(parameters), ascending: parameters.flag('ascending') }) };
    },
  },
];

function timesOf(parameters: Parameters): { readonly from?: number; readonly to?: number } {
  const [from, to] = [parameters.integer('from'), parameters.integer('to')];
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

/** @throws MILL_STORE_WRONG_TYPE */
export function mustFit(endpoint: StoreEndpoint, store: StoreInfo): void {
  if (endpoint.kind === store.kind) return;
  const others = storeEndpoints.filter(({ kind }) => kind === store.kind).map(({ path }) => path);
  throw new MillraceError(
    'MILL_STORE_WRONG_TYPE',
    `Store ${store.name} is of kind ${store.storeKind}: it has ${others.join(', ')}, not ${endpoint.path}.`,
    { details: { store: store.name, kind: store.storeKind } },
  );
}

export function isRows(result: unknown): result is QueryIterator<unknown> {
  return typeof result === 'object' && result !== null && 'cursor' in result;
}
