/**
 * Runs queries against the stores of this instance.
 *
 * First it waits until all partitions asked can be read as wanted; then it reads all of them without a pause in between. Since the tasks of a thread commit together,
 * what several partitions answer with `committed` is of one epoch.
 */
import { MillraceError } from '../errors.js';
import { anyObject, requireOptions, text, type ShapeOf } from '../errors/checked-options.js';
import { delay } from '../kafka/backoff.js';
import type { StoreReader } from '../stores/reading/store-reader.js';
import type { StoreSpec } from '../stores/store.js';
import { answerQuery, answers } from './answer-query.js';
import type { Answer } from './answer-query.js';
import { decodeCursor } from './element-source.js';
import { emptyPosition, mergePositions, reaches } from './position.js';
import type { Position } from './position.js';
import { migrated, QueryIterator } from './query-iterator.js';
import type { QueryIteratorOptions } from './query-iterator.js';
import type { PageOptions, QueryBody } from './query.js';
import type { HostedTask, Isolation, QueryHost } from './query-host.js';
import { readShape } from './read-shape.js';
import { StateQueryResult } from './state-query.js';
import type { PartitionFailure, PartitionResult, QueryFailureReason, ReadOptions, StateQueryRequest } from './state-query.js';

/** A store of the topology, and where it is. */
export interface KnownStore {
  readonly spec: StoreSpec;
  /** null: every instance has it whole. */
  readonly subTopology: number | null;
}

/** Partitions to read, ready at this moment. */
export interface Readable {
  readonly isolation: Isolation;
  readonly tasks: readonly HostedTask[];
}

const defaultTimeoutMs = 10_000;
/** Between two looks at a position that is to be reached while nothing commits, ms. */
const lookAgainMs = 20;

const shape = { ...readShape, store: text, query: anyObject, bound: anyObject } satisfies ShapeOf<StateQueryRequest<unknown>>;

export class StoreQueries {
  constructor(readonly host: QueryHost) {}

  /** @throws MILL_TOPOLOGY_UNKNOWN_STORE */
  known(name: string): KnownStore {
    const { topology } = this.host;
    const global = topology.globalStores.get(name);
    if (global !== undefined) return { spec: global.spec, subTopology: null };
    const store = topology.stores.get(name);
    const owner = topology.subTopologies.find(({ stores }) => stores.includes(name));
    if (store !== undefined && owner !== undefined) return { spec: store.spec, subTopology: owner.id };
    const names = [...topology.stores.keys(), ...topology.globalStores.keys()].join(', ') || 'none';
    throw new MillraceError('MILL_TOPOLOGY_UNKNOWN_STORE', `There is no store ${name}; the topology has: ${names}.`, {
      details: { store: name },
    });
  }

  /**
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_STORE_NOT_AVAILABLE when the app does not run, or nothing commits within `timeout`; MILL_QUERY_INVALID for an option that there
   * is not, and without a query
   */
  async query<R>(request: StateQueryRequest<R>): Promise<StateQueryResult<R>> {
    requireOptions('query', request, shape, 'MILL_QUERY_INVALID');
    const { store, query, bound = emptyPosition } = request;
    const known = this.known(store);
    if ((query as unknown) === undefined)
      throw new MillraceError('MILL_QUERY_INVALID', 'query: `query` is missing; make it with `queries`.');
    const results = new Map<number, PartitionResult<R>>();
    const fits = answers(query.kind, known.spec.kind);
    const readable = await this.readable(store, fits ? request : { ...request, isolation: 'uncommitted' }, (tasks) =>
      this.chosen(known, request, tasks),
    );
    const asked = request.partitions ?? readable.tasks.map(({ partition }) => partition);
    const fail = (partition: number, reason: QueryFailureReason, message: string, more: Partial<PartitionFailure> = {}): void => {
      results.set(partition, { ok: false, partition, reason, message, ...more });
    };
    for (const partition of asked) {
      const task = readable.tasks.find((candidate) => candidate.partition === partition);
      if (task === undefined) {
        const [reason, message] = this.whyAbsent(known, store, partition);
        fail(partition, reason, message);
        continue;
      }
      const position = task.position(readable.isolation);
      if (task.role !== 'active' && request.standbys !== 'use') {
        fail(partition, 'notActive', `Partition ${partition} of store ${store} is here, but still catching up.`, { position });
      } else if (!reaches(position, bound, partition)) {
        fail(partition, 'notUpToBound', `Partition ${partition} of store ${store} has not got as far as asked.`, { position });
      } else if (!fits) {
        fail(partition, 'unknownQueryType', `Store ${store} is of kind ${known.spec.kind}: it does not answer ${query.kind} queries.`);
      } else {
        try {
          const answer = this.answer(known, query, task, readable.isolation);
          const result = resultOf(store, query, answer, position) as R;
          results.set(partition, { ok: true, partition, result, position });
        } catch (error) {
          const cause = migrated(error, store);
          fail(partition, 'storeException', cause instanceof Error ? cause.message : String(cause), { position, error: cause });
        }
      }
    }
    return new StateQueryResult(results, mergePositions([...results.values()].flatMap((result) => (result.ok ? [result.position] : []))));
  }

  /**
   * Waits until the tasks that `choose` picks can be read with the isolation asked for. The tasks it gives are as they are when the promise is settled: read them
   * before the next await.
   */
  async readable(
    store: string,
    options: ReadOptions,
    choose: (tasks: readonly HostedTask[]) => readonly HostedTask[],
    isSoonEnough: (tasks: readonly HostedTask[], isolation: Isolation) => boolean = () => true,
  ): Promise<Readable> {
    const { isolation = 'committed', timeout = defaultTimeoutMs } = options;
    const known = this.known(store);
    const deadline = performance.now() + timeout;
    for (;;) {
      const tasks = choose(this.tasksOf(known, store));
      const waiting = tasks.filter((task) => !isReady(task, store, isolation));
      if (waiting.length === 0 && isSoonEnough(tasks, isolation)) return { isolation, tasks };
      const left = deadline - performance.now();
      if (left <= 0) {
        if (waiting.length === 0) return { isolation, tasks };
        throw new MillraceError('MILL_STORE_NOT_AVAILABLE', `Store ${store}: no epoch was committed within ${timeout} ms.`, {
          details: { store, partitions: waiting.map(({ partition }) => partition) },
        });
      }
      if (waiting.length > 0) this.host.requestCommit();
      const news = (waiting.length > 0 ? waiting : tasks).map(({ state }) => state.whenCommitted().catch(() => undefined));
      await firstOf(news, waiting.length > 0 ? left : Math.min(left, lookAgainMs));
    }
  }

  answer({ spec }: KnownStore, query: QueryBody, task: HostedTask, isolation: Isolation): Answer {
    const reader = task.state.reader(spec.name);
    return answerQuery(query, spec.kind, reader, asOfFor(task, reader, isolation), task.partition);
  }

  /** Tasks that have the store here, whether they may be read or not. */
  tasksOf({ subTopology }: KnownStore, store: string): readonly HostedTask[] {
    const { host } = this;
    const why = host.closedBecause();
    if (why !== null) throw new MillraceError('MILL_STORE_NOT_AVAILABLE', `Store ${store} can’t be read: ${why}.`, { details: { store } });
    if (subTopology !== null) return host.tasksOf(subTopology);
    const globals = host.globals();
    return globals === null ? [] : [globals];
  }

  whyAbsent({ subTopology }: KnownStore, store: string, partition: number): readonly [QueryFailureReason, string] {
    const { host } = this;
    const count = subTopology === null ? 1 : host.partitionCount(subTopology);
    if (!Number.isSafeInteger(partition) || partition < 0 || (count !== null && partition >= count)) {
      return ['doesNotExist', `Store ${store} has no partition ${partition}.`];
    }
    const isOwned = subTopology === null || host.ownedPartitions(subTopology).includes(partition);
    return isOwned
      ? ['notActive', `Partition ${partition} of store ${store} is being opened here.`]
      : ['notPresent', `Partition ${partition} of store ${store} is on another instance.`];
  }

  private chosen(known: KnownStore, request: StateQueryRequest<unknown>, tasks: readonly HostedTask[]): readonly HostedTask[] {
    const { partitions } = request;
    if (partitions === undefined || known.subTopology === null) return tasks;
    return tasks.filter(({ partition }) => partitions.includes(partition));
  }
}

function resultOf(store: string, query: QueryBody, answer: Answer, position: Position): unknown {
  if (answer.kind === 'value') return answer.value;
  return new QueryIterator({ sources: answer.sources, position }, iteratorOptions(store, query));
}

export function iteratorOptions(store: string, query: QueryBody): QueryIteratorOptions {
  const { reverse = false, limit = Infinity, after }: PageOptions = 'options' in query ? query.options : {};
  return { store, reverse, limit, after: after === undefined ? null : decodeCursor(after) };
}

/** A copy that catches up, and a global store, hold committed data alone: there is nothing to wait for. */
function isReady(task: HostedTask, store: string, isolation: Isolation): boolean {
  if (isolation === 'uncommitted' || task.role !== 'active') return true;
  return task.state.reader(store).rows.openCommitted();
}

function asOfFor(task: HostedTask, reader: StoreReader, isolation: Isolation): ReturnType<StoreReader['rows']['asOf']> {
  return reader.rows.asOf(task.role === 'active' ? isolation : 'uncommitted');
}

async function firstOf(news: readonly Promise<void>[], ms: number): Promise<void> {
  const patience = new AbortController();
  try {
    await Promise.race([...news, delay(ms, patience.signal).catch(() => undefined)]);
  } finally {
    patience.abort();
  }
}
