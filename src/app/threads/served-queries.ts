import type { ElementSource } from '../../queries/element-source.js';
import type { Answer } from '../../queries/answer-query.js';
import type { KnownStore, LocalPartitions } from '../../queries/known-store.js';
import { migrated } from '../../queries/query-iterator.js';
import type { StateQueryRequest } from '../../queries/state-query.js';
import type { StoreQueries } from '../../queries/store-queries.js';
import type { Question, ViewRead } from '../../queries/store-reads.js';
import { sendError } from './sent-error.js';
import { receiveQuestion, sendElements, sendValue } from './sent-query.js';
import type { SentAnswer, SentOutcome, SentPartition, StoreSerdes } from './sent-query.js';
import type { SentPage, SentRead } from './thread-protocol.js';

interface OpenRows {
  readonly source: ElementSource<unknown>;
  readonly serdes: StoreSerdes;
  readonly store: string;
}

/** In a thread: answers the app's reads from the stores of the thread's tasks, and keeps rows open until the app has read or closed them. */
export class ServedQueries {
  private readonly open = new Map<number, OpenRows>();
  private nextNumber = 1;

  constructor(private readonly queries: StoreQueries) {}

  async read(read: ViewRead, question: Question): Promise<SentRead> {
    const known = this.queries.known(read.store);
    const serdes = this.serdes(known);
    let here: LocalPartitions = { owned: [], count: null };
    // What must have been found is the app's to say, which hears of all threads.
    const given = await this.queries.read(read, receiveQuestion(question, serdes), (_, local) => {
      here = local;
    });
    const partitions = given.map(({ partition, answer, position }): SentPartition => ({
      partition,
      position,
      answer: this.sent(known, question, answer, serdes),
    }));
    return { here, partitions };
  }

  async query(request: StateQueryRequest<unknown>): Promise<readonly SentOutcome[]> {
    const known = this.queries.known(request.store);
    const serdes = this.serdes(known);
    const query = receiveQuestion(request.query, serdes) as typeof request.query;
    const outcomes = await this.queries.outcomes({ ...request, query });
    return [...outcomes.values()].map((outcome): SentOutcome => {
      if (outcome.ok) return { ...outcome, answer: this.sent(known, query, outcome.answer, serdes) };
      const { error, ...failure } = outcome;
      return { ok: false, failure, error: error === undefined ? null : sendError(error) };
    });
  }

  /** The next rows; none at the end, where they are closed. */
  async page(number: number): Promise<SentPage> {
    const rows = this.open.get(number);
    if (rows === undefined) return [];
    try {
      const page = await rows.source.next();
      if (page.length === 0) await this.close(number);
      return sendElements(page, rows.serdes);
    } catch (error) {
      throw migrated(error, rows.store);
    }
  }

  async close(number: number): Promise<void> {
    const rows = this.open.get(number);
    this.open.delete(number);
    await rows?.source.close();
  }

  private sent({ spec }: KnownStore, question: Question, answer: Answer, serdes: StoreSerdes): SentAnswer {
    if (answer.kind === 'value') return { kind: 'value', value: sendValue(question.kind, answer.value, serdes) };
    const sources = answer.sources.map((source) => {
      const number = this.nextNumber++;
      this.open.set(number, { source, serdes, store: spec.name });
      return number;
    });
    return { kind: 'rows', sources };
  }

  private serdes({ spec }: KnownStore): StoreSerdes {
    return this.queries.host.serdes(spec);
  }
}
