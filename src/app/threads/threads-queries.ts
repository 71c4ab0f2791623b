import { MillraceError } from '../../errors.js';
import { delay } from '../../kafka/backoff.js';
import type { Answer } from '../../queries/answer-query.js';
import { closeAll } from '../../queries/close-sources.js';
import type { Element, ElementSource } from '../../queries/element-source.js';
import { absence, knownStore } from '../../queries/known-store.js';
import type { KnownStore, LocalPartitions } from '../../queries/known-store.js';
import { resultsOf, type PartitionOutcome } from '../../queries/partition-outcomes.js';
import { checkRequest } from '../../queries/query-request.js';
import type { QueryFailureReason, StateQueryRequest, StateQueryResult } from '../../queries/state-query.js';
import type { PartitionAnswer, Question, ReadCheck, StoreReads, ViewRead } from '../../queries/store-reads.js';
import { receiveError } from './sent-error.js';
import { receiveElements, receiveValue, sendQuestion } from './sent-query.js';
import type { SentAnswer, SentOutcome, StoreSerdes } from './sent-query.js';
import type { ThreadsQueryHost } from './threads-query-host.js';
import type { WorkerThread } from './worker-thread.js';

/** That of a thread's own reads. */
const defaultTimeoutMs = 10_000;
/** A thread that waits for a commit says itself when its time is over, ms. */
const graceMs = 1_000;

/**
 * Reads the stores of all threads of an instance: asks each of them and puts the answers together.
 *
 * What one thread answers is of one of its epochs; threads commit for themselves, so answers of different threads are as of different commits, as those of
 * different instances are.
 */
export class ThreadsQueries implements StoreReads {
  constructor(
    readonly host: ThreadsQueryHost,
    private readonly threads: () => readonly WorkerThread[],
  ) {}

  /** @throws MILL_TOPOLOGY_UNKNOWN_STORE */
  known(store: string): KnownStore {
    return knownStore(this.host.topology, store);
  }

  async query<R>(request: StateQueryRequest<R>): Promise<StateQueryResult<R>> {
    checkRequest(request);
    const known = this.known(request.store);
    const serdes = this.serdes(known);
    const query = sendQuestion(request.query, serdes) as typeof request.query;
    const all = await this.ask(known, request.timeout, (thread) => thread.query({ ...request, query }));
    const outcomes = new Map<number, PartitionOutcome>();
    for (const { thread, gives } of all) {
      for (const sent of gives) {
        const outcome = await this.outcome(thread, request.store, request.query, sent, serdes);
        const before = outcomes.get(outcome.partition);
        const [better, worse] = before === undefined || rank(outcome) < rank(before) ? [outcome, before] : [before, outcome];
        outcomes.set(outcome.partition, better);
        if (worse?.ok === true) closeAll([worse.answer]);
      }
    }
    // No single thread knows whether another one is about to open the partition.
    const here = this.here(known);
    for (const [partition, outcome] of outcomes)
      if (!outcome.ok && outcome.reason === 'notPresent') outcomes.set(partition, absence(known, partition, here));
    for (const partition of request.partitions ?? [])
      if (!outcomes.has(partition)) outcomes.set(partition, absence(known, partition, here));
    return resultsOf(request, new Map([...outcomes].sort(([a], [b]) => a - b)));
  }

  async read(read: ViewRead, question: Question, check: ReadCheck): Promise<readonly PartitionAnswer[]> {
    const known = this.known(read.store);
    const serdes = this.serdes(known);
    const sent = sendQuestion(question, serdes);
    const all = await this.ask(known, read.timeout, (thread) => thread.read({ read, question: sent }));
    const given = new Map<number, PartitionAnswer>();
    const receive = async (): Promise<void> => {
      for (const { thread, gives } of all) {
        for (const { partition, position, answer } of gives.partitions) {
          const received = await this.answer(thread, read.store, question, answer, serdes);
          // A task that has just moved from one thread to the other may be open in both.
          if (given.has(partition)) closeAll([received]);
          else given.set(partition, { partition, position, answer: received });
        }
      }
      const own = this.here(known);
      const owned = new Set([...own.owned, ...all.flatMap(({ gives }) => gives.here.owned)]);
      const count = all.reduce<number | null>((most, { gives }) => gives.here.count ?? most, own.count);
      check([...given.keys()], { owned: [...owned], count });
    };
    try {
      await receive();
      return [...given.values()].sort((a, b) => a.partition - b.partition);
    } catch (error) {
      closeAll([...given.values()].map(({ answer }) => answer));
      throw error;
    }
  }

  /** Every thread that runs; of a global store any one. A thread that ends meanwhile has nothing to say. */
  private async ask<T>(
    { spec, subTopology }: KnownStore,
    timeout: number | undefined = defaultTimeoutMs,
    call: (thread: WorkerThread) => Promise<T>,
  ): Promise<{ readonly thread: WorkerThread; readonly gives: T }[]> {
    const why = this.host.closedBecause();
    if (why !== null)
      throw new MillraceError('MILL_STORE_NOT_AVAILABLE', `Store ${spec.name} can’t be read: ${why}.`, { details: { store: spec.name } });
    const asked = subTopology === null ? this.threads().slice(0, 1) : this.threads();
    const results = await Promise.allSettled(
      asked.map(async (thread) => ({ thread, gives: await inTime(call(thread), timeout + graceMs, spec.name, thread.index) })),
    );
    const failed = results.find((result) => result.status === 'rejected' && !isGone(result.reason));
    if (failed?.status === 'rejected') throw failed.reason;
    return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  private async outcome(
    thread: WorkerThread,
    store: string,
    query: Question,
    sent: SentOutcome,
    serdes: StoreSerdes,
  ): Promise<PartitionOutcome> {
    if (!sent.ok) return sent.error === null ? sent.failure : { ...sent.failure, error: receiveError(sent.error) };
    return { ...sent, answer: await this.answer(thread, store, query, sent.answer, serdes) };
  }

  private async answer(thread: WorkerThread, store: string, question: Question, sent: SentAnswer, serdes: StoreSerdes): Promise<Answer> {
    if (sent.kind === 'value') return { kind: 'value', value: await receiveValue(question.kind, sent.value, serdes) };
    return { kind: 'rows', sources: sent.sources.map((number) => new ThreadRows(thread, number, serdes, store)) };
  }

  private here({ subTopology }: KnownStore): LocalPartitions {
    if (subTopology === null) return { owned: [0], count: 1 };
    return { owned: this.host.ownedPartitions(subTopology), count: this.host.partitionCount(subTopology) };
  }

  private serdes({ spec }: KnownStore): StoreSerdes {
    return this.host.serdes(spec);
  }
}

/** Rows that a thread keeps open. */
class ThreadRows implements ElementSource<unknown> {
  constructor(
    private readonly thread: WorkerThread,
    private readonly number: number,
    private readonly serdes: StoreSerdes,
    private readonly store: string,
  ) {}

  async next(): Promise<readonly Element<unknown>[]> {
    try {
      return await receiveElements(
        await inTime(this.thread.page(this.number), defaultTimeoutMs, this.store, this.thread.index),
        this.serdes,
      );
    } catch (error) {
      if (isGone(error)) throw new MillraceError('MILL_STORE_CLOSED', 'the stream thread has ended', { cause: error });
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.thread.closeRows(this.number).catch(() => undefined);
  }
}

/** A thread that hangs in user code answers nothing. */
async function inTime<T>(answer: Promise<T>, ms: number, store: string, thread: number): Promise<T> {
  const patience = new AbortController();
  const late = delay(ms, patience.signal).then(
    () => {
      throw new MillraceError('MILL_STORE_NOT_AVAILABLE', `Store ${store}: stream thread ${thread} did not answer within ${ms} ms.`, {
        details: { store, thread },
      });
    },
    () => new Promise<never>(() => undefined),
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    patience.abort();
  }
}

function isGone(error: unknown): boolean {
  return error instanceof MillraceError && (error.code === 'MILL_THREAD_CRASHED' || error.code === 'MILL_STATE_INVALID');
}

const ranks: Readonly<Record<QueryFailureReason, number>> = {
  notUpToBound: 1,
  unknownQueryType: 1,
  storeException: 1,
  notActive: 2,
  doesNotExist: 3,
  notPresent: 4,
};

/** The lower, the more it says. */
function rank(outcome: PartitionOutcome): number {
  return outcome.ok ? 0 : ranks[outcome.reason];
}
