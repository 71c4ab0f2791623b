/** Requests about a store: parameters to a query, its result to a body; or the instance that should be asked instead. */
import { MillraceError } from '../errors.js';
import { partitionMetadata } from '../queries/metadata.js';
import type { Position } from '../queries/position.js';
import type { PageOptions, Query } from '../queries/query.js';
import type { QueryIterator } from '../queries/query-iterator.js';
import type { PartitionFailure, ReadOptions } from '../queries/state-query.js';
import { failureError } from '../queries/state-query.js';
import type { StoreInfo } from '../queries/store-info.js';
import type { ViewOptions } from '../queries/views/store-view.js';
import { Parameters } from './parameters.js';
import type { QueryableApp, QueryServerOptions } from './query-server.js';
import { isRows, mustFit, storeEndpoints } from './store-endpoints.js';
import type { StoreEndpoint } from './store-endpoints.js';

/** Another instance has the data, or nobody has it now. */
export class Elsewhere extends Error {
  constructor(
    /** `host:port`; null: nobody is known who could answer. */
    readonly server: string | null,
    readonly reason: unknown,
  ) {
    super('another instance has the data');
  }
}

/** Accepted by every endpoint. */
const readParameters = ['isolation', 'standbys', 'timeout', 'atLeast', 'partition'];

interface Read extends ReadOptions {
  readonly bound: Position | undefined;
}

export class StoreRequests {
  readonly endpoints = storeEndpoints;

  constructor(
    private readonly app: QueryableApp,
    private readonly options: QueryServerOptions,
  ) {}

  /** @throws Elsewhere; MILL_QUERY_INVALID and the errors of queries */
  async answer(endpoint: StoreEndpoint, name: string, given: Readonly<Record<string, unknown>>): Promise<object> {
    const store = this.store(name);
    mustFit(endpoint, store);
    const parameters = new Parameters(given, [...endpoint.parameters, ...readParameters]);
    const page = this.pageOf(endpoint, parameters);
    const { query, key } = endpoint.ask(store, parameters, page);
    const read = readOf(parameters);
    const partition = this.partitionFor(store, key, parameters);
    const head = { store: name, ...(key !== undefined && { key }), ...(partition !== null && { partition }) };
    if (partition === null && endpoint.hasRows && !store.isGlobal) {
      return { ...head, ...(await rowsOf(this.localRows(store, endpoint, query, read), page)) };
    }
    const { result, position } = await this.ask(store, query, partition, read);
    return isRows(result) ? { ...head, ...(await rowsOf(result, page)) } : { ...head, ...valueOf(store, query, result), position };
  }

  /** The instance that has a key. */
  keyMetadata(name: string, given: Readonly<Record<string, unknown>>): object {
    const store = this.store(name);
    const key = new Parameters(given, ['key']).key('key', store.keySerde);
    return this.app.metadataForKey(name, key, this.keyOptions(name));
  }

  private store(name: string): StoreInfo {
    const store = this.app.stores().find((candidate) => candidate.name === name);
    if (store !== undefined) return store;
    throw new MillraceError('MILL_TOPOLOGY_UNKNOWN_STORE', `There is no store ${name} that can be queried.`, { details: { store: name } });
  }

  private keyOptions(name: string) {
    const partitioner = this.options.partitioners?.[name];
    return partitioner === undefined ? {} : { partitioner };
  }

  /** The one partition that the request is about; null: all that are here. */
  private partitionFor(store: StoreInfo, key: unknown, parameters: Parameters): number | null {
    const asked = parameters.integer('partition', 0);
    if (store.isGlobal) return asked === undefined || asked === 0 ? null : asked;
    if (asked !== undefined || key === undefined) return asked ?? null;
    return this.app.metadataForKey(store.name, key, this.keyOptions(store.name)).partition;
  }

  private async ask(store: StoreInfo, query: Query<unknown>, partition: number | null, read: Read) {
    const { bound, ...options } = read;
    const result = await this.app.query({
      ...options,
      store: store.name,
      query,
      ...(partition !== null && { partitions: [partition] }),
      ...(bound !== undefined && { bound }),
    });
    const [answer] = result.partitions.values();
    if (answer === undefined) {
      throw new MillraceError('MILL_STORE_NOT_AVAILABLE', `Store ${store.name} is not open here yet.`, { details: { store: store.name } });
    }
    if (answer.ok) return answer;
    throw this.elsewhere(store, answer) ?? failureError(answer);
  }

  /** For partitions that are not readable here. */
  private elsewhere(store: StoreInfo, answer: PartitionFailure): Elsewhere | null {
    if (answer.reason !== 'notPresent' && answer.reason !== 'notActive') return null;
    const { active } = partitionMetadata(this.app.metadataForAll(), store.name, answer.partition);
    return new Elsewhere(active === null || active.isLocal ? null : active.applicationServer, failureError(answer));
  }

  private localRows(store: StoreInfo, endpoint: StoreEndpoint, query: Query<unknown>, read: Read): QueryIterator<unknown> {
    const { bound, ...options } = read;
    const view: ViewOptions<unknown> = { ...options, ...(bound !== undefined && { atLeast: bound }) };
    switch (query.kind) {
      case 'range':
        return this.app.store(store.name, view).range(query.options);
      case 'windowRange':
        return this.app.store(store.name, { ...view, kind: 'window' }).fetchAll(query.options);
      case 'sessionRange':
        return this.app.store(store.name, { ...view, kind: 'session' }).fetchAll(query.options);
      default:
        throw new MillraceError('MILL_INVARIANT', `${endpoint.path} gives no rows of all keys`);
    }
  }

  private pageOf({ hasRows }: StoreEndpoint, parameters: Parameters): PageOptions {
    if (!hasRows) return {};
    const { defaultLimit = 100, maxLimit = 1000 } = this.options;
    const after = parameters.text('after');
    return {
      limit: parameters.integer('limit', 1, maxLimit) ?? Math.min(defaultLimit, maxLimit),
      reverse: parameters.flag('reverse'),
      ...(after !== undefined && { after }),
    };
  }
}

function readOf(parameters: Parameters): Read {
  const isolation = parameters.oneOf('isolation', ['committed', 'uncommitted']);
  const standbys = parameters.oneOf('standbys', ['avoid', 'use']);
  const timeout = parameters.integer('timeout', 0, 60_000);
  const bound = parameters.text('atLeast');
  return {
    ...(isolation !== undefined && { isolation }),
    ...(standbys !== undefined && { standbys }),
    ...(timeout !== undefined && { timeout }),
    bound: bound === undefined ? undefined : positionFrom(bound),
  };
}

function positionFrom(text: string): Position {
  try {
    const position: unknown = JSON.parse(text);
    if (typeof position === 'object' && position !== null && Object.values(position).every(isOffsets)) return position as Position;
  } catch {
    // Said below.
  }
  throw new MillraceError('MILL_QUERY_INVALID', 'atLeast must be a position, as {"topic":{"0":41}}.', {
    details: { parameter: 'atLeast' },
  });
}

function isOffsets(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every((offset) => Number.isSafeInteger(offset));
}

function valueOf(store: StoreInfo, query: Query<unknown>, result: unknown): object {
  if (query.kind === 'versionHistory') return { versions: result };
  if (query.kind === 'timestampedKey' || query.kind === 'versionedKey')
    return result === null ? { value: null } : { ...(result as object) };
  return { value: result };
}

async function rowsOf(iterator: QueryIterator<unknown>, page: PageOptions): Promise<object> {
  await using rows = iterator;
  const found = await rows.toArray();
  const isFull = found.length === page.limit;
  return { rows: found, cursor: isFull ? rows.cursor : null, position: rows.position };
}
