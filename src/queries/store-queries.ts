/**
 * Runs queries against the stores of this instance.
 *
 * First it waits until all partitions asked can be read as wanted; then it reads all of them without a pause in between. Since the tasks of a thread commit together,
 * what several partitions answer with `committed` is of one epoch.
 */
import { MillraceError } from '../errors.js';
import { delay } from '../kafka/backoff.js';
import type { StoreReader } from '../stores/reading/store-reader.js';
import { answerQuery, answers } from './answer-query.js';
import type { Answer } from './answer-query.js';
import { closeAll } from './close-sources.js';
import { absence, knownStore } from './known-store.js';
import type { KnownStore, LocalPartitions } from './known-store.js';
import { emptyPosition, reaches } from './position.js';
import { resultsOf, type PartitionOutcome } from './partition-outcomes.js';
import { migrated } from './query-iterator.js';
import type { HostedTask, Isolation, QueryHost } from './query-host.js';
import { checkRequest } from './query-request.js';
import { failureError } from './state-query.js';
import type { PartitionFailure, QueryFailureReason, ReadOptions, StateQueryRequest, StateQueryResult } from './state-query.js';
import type { PartitionAnswer, Question, ReadCheck, StoreReads, ViewRead } from './store-reads.js';

/** Partitions to read, ready at this moment. */
export interface Readable {
  readonly isolation: Isolation;
  readonly tasks: readonly HostedTask[];
}

const defaultTimeoutMs = 10_000;
/** Between two looks at a position that is to be reached while nothing commits, ms. */
const lookAgainMs = 20;

export class StoreQueries implements StoreReads {
  constructor(readonly host: QueryHost) {}

  /** @throws MILL_TOPOLOGY_UNKNOWN_STORE */
  known(name: string): KnownStore {
    return knownStore(this.host.topology, name);
  }

  /**
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_STORE_NOT_AVAILABLE when the app does not run, or nothing commits within `timeout`; MILL_QUERY_INVALID for an option that there
   * is not, and without a query
   */
  async query<R>(request: StateQueryRequest<R>): Promise<StateQueryResult<R>> {
    checkRequest(request);
    return resultsOf(request, await this.outcomes(request));
  }

  /** What came of the query in each partition that was asked; the options are checked already. */
  async outcomes(request: StateQueryRequest<unknown>): Promise<ReadonlyMap<number, PartitionOutcome>> {
    const { store, query, bound = emptyPosition } = request;
    const known = this.known(store);
    const results = new Map<number, PartitionOutcome>();
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
        results.set(partition, absence(known, partition, this.here(known)));
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
          results.set(partition, { ok: true, partition, answer: this.answer(known, query, task, readable.isolation), position });
        } catch (error) {
          const cause = migrated(error, store);
          fail(partition, 'storeException', cause instanceof Error ? cause.message : String(cause), { position, error: cause });
        }
      }
    }
    return results;
  }

  async read(read: ViewRead, question: Question, check: ReadCheck): Promise<readonly PartitionAnswer[]> {
    const { store, atLeast = emptyPosition, standbys, partitions } = read;
    const known = this.known(store);
    const behind = (tasks: readonly HostedTask[], isolation: Isolation): HostedTask | undefined =>
      tasks.find((task) => !reaches(task.position(isolation), atLeast, task.partition));
    const { tasks, isolation } = await this.readable(
      store,
      read,
      (all) => {
        const mine = all.filter(
          ({ role, partition }) => (role === 'active' || standbys === 'use') && (partitions?.includes(partition) ?? true),
        );
        check(
          mine.map(({ partition }) => partition),
          this.here(known),
        );
        return mine;
      },
      (ready, isolation) => behind(ready, isolation) === undefined,
    );
    const late = behind(tasks, isolation);
    if (late !== undefined) throw failureError(notUpToBound(store, late, isolation));
    return this.answersOf(known, question, tasks, isolation);
  }

  private answersOf(known: KnownStore, question: Question, tasks: readonly HostedTask[], isolation: Isolation): PartitionAnswer[] {
    const given: PartitionAnswer[] = [];
    try {
      for (const task of tasks) {
        const { partition } = task;
        given.push({ partition, answer: this.answer(known, question, task, isolation), position: task.position(isolation) });
      }
      return given;
    } catch (error) {
      closeAll(given.map(({ answer }) => answer));
      throw migrated(error, known.spec.name);
    }
  }

  private here({ subTopology }: KnownStore): LocalPartitions {
    if (subTopology === null) return { owned: [0], count: 1 };
    return { owned: this.host.ownedPartitions(subTopology), count: this.host.partitionCount(subTopology) };
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

  private answer({ spec }: KnownStore, query: Question, task: HostedTask, isolation: Isolation): Answer {
    const reader = task.state.reader(spec.name);
    if (query.kind === 'approximateCount') return { kind: 'value', value: reader.kind === 'keyValue' ? reader.approximateCount : 0 };
    return answerQuery(query, spec.kind, reader, asOfFor(task, reader, isolation), task.partition);
  }

  /** Tasks that have the store here, whether they may be read or not. */
  private tasksOf({ subTopology }: KnownStore, store: string): readonly HostedTask[] {
    const { host } = this;
    const why = host.closedBecause();
    if (why !== null) throw new MillraceError('MILL_STORE_NOT_AVAILABLE', `Store ${store} can’t be read: ${why}.`, { details: { store } });
    if (subTopology !== null) return host.tasksOf(subTopology);
    const globals = host.globals();
    return globals === null ? [] : [globals];
  }

  private chosen(known: KnownStore, request: StateQueryRequest<unknown>, tasks: readonly HostedTask[]): readonly HostedTask[] {
    const { partitions } = request;
    if (partitions === undefined || known.subTopology === null) return tasks;
    return tasks.filter(({ partition }) => partitions.includes(partition));
  }
}

function notUpToBound(store: string, task: HostedTask, isolation: Isolation): PartitionFailure {
  const { partition } = task;
  const message = `Partition ${partition} of store ${store} has not got as far as asked.`;
  return { ok: false, partition, reason: 'notUpToBound', message, position: task.position(isolation) };
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
