import { MillraceError } from '../errors.js';
import type { Element, ElementSource } from './element-source.js';
import { compareElements, encodeCursor } from './element-source.js';
import { emptyPosition } from './position.js';
import type { Position } from './position.js';

interface Head<T> {
  readonly source: ElementSource<T>;
  page: readonly Element<T>[];
  at: number;
}

export interface OpenedRows<T> {
  readonly sources: readonly ElementSource<T>[];
  readonly position: Position;
}

export interface QueryIteratorOptions {
  readonly store: string;
  readonly reverse: boolean;
  readonly limit: number;
  /** The element after which to begin. */
  readonly after: Element<unknown> | null;
}

/**
 * Rows of a range query, of all partitions in one order. What it shows is as of its start (with `uncommitted`, see the guide); the task goes on meanwhile.
 *
 * It holds a snapshot of the store until it is read to the end or closed: use `for await`, `await using`, or call `close`. Errors while reading:
 * MILL_STORE_MIGRATED when a partition leaves this instance, MILL_STORE_SNAPSHOT_LOST when it is read too slowly, MILL_STORE_IO.
 */
export class QueryIterator<T> implements AsyncIterableIterator<T, undefined>, AsyncDisposable {
  private heads: Head<T>[] = [];
  private reflected: Position = emptyPosition;
  private state: 'new' | 'open' | 'closed' = 'new';
  private given = 0;
  private last: Element<T> | null = null;
  /** Calls are answered one after the other. */
  private chain: Promise<unknown> = Promise.resolve();

  /** `open`: where the rows come from, opened already or with the first row. */
  constructor(
    private readonly open: OpenedRows<T> | (() => Promise<OpenedRows<T>>),
    private readonly options: QueryIteratorOptions,
  ) {
    if (typeof open !== 'function') this.take(open);
  }

  /** The input records that the rows reflect; empty as long as it is not open, which is at the first row at the latest. */
  get position(): Position {
    return this.reflected;
  }

  /** Where the row given last stands: with `after` another query goes on behind it. null before the first. */
  get cursor(): string | null {
    return this.last === null ? null : encodeCursor(this.last);
  }

  /** The next row. */
  next(): Promise<IteratorResult<T, undefined>> {
    const step = this.chain.then(() => this.step());
    this.chain = step.catch(() => undefined);
    return step;
  }

  /** Closes it: what leaving a `for await` early calls. */
  async return(): Promise<IteratorResult<T, undefined>> {
    await this.close();
    return { done: true, value: undefined };
  }

  /** Gives the snapshot back. Called again, it does nothing. */
  async close(): Promise<void> {
    if (this.state === 'closed') return;
    this.state = 'closed';
    await this.closeSources();
  }

  /** All rows that are left. */
  async toArray(): Promise<T[]> {
    const rows: T[] = [];
    for await (const row of this) rows.push(row);
    return rows;
  }

  /** Itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Closes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async step(): Promise<IteratorResult<T, undefined>> {
    try {
      if (this.state === 'new') await this.start();
      for (;;) {
        const head = this.given < this.options.limit ? this.least() : undefined;
        if (head === undefined) {
          await this.close();
          return { done: true, value: undefined };
        }
        const element = head.page[head.at++] as Element<T>;
        if (head.at === head.page.length) await this.refill([head]);
        const { after } = this.options;
        if (after !== null && this.compare(element, after) <= 0) continue;
        this.last = element;
        this.given++;
        return { done: false, value: element.row };
      }
    } catch (error) {
      await this.close().catch(() => undefined);
      throw migrated(error, this.options.store);
    }
  }

  private async start(): Promise<void> {
    if (typeof this.open === 'function') this.take(await this.open());
    // It may have been closed meanwhile.
    if (this.state === 'new') this.state = 'open';
    else await this.closeSources();
    await this.refill(this.heads.slice());
  }

  private take({ sources, position }: OpenedRows<T>): void {
    this.heads = sources.map((source) => ({ source, page: [], at: 0 }));
    this.reflected = position;
  }

  private async closeSources(): Promise<void> {
    await Promise.all(this.heads.splice(0).map(({ source }) => source.close()));
  }

  /** Fetches the next page of each; those that have none leave. */
  private async refill(heads: readonly Head<T>[]): Promise<void> {
    await Promise.all(
      heads.map(async (head) => {
        head.page = await head.source.next();
        head.at = 0;
        if (head.page.length > 0) return;
        const at = this.heads.indexOf(head);
        if (at >= 0) this.heads.splice(at, 1);
        await head.source.close();
      }),
    );
  }

  private least(): Head<T> | undefined {
    let least: Head<T> | undefined;
    for (const head of this.heads) {
      if (least === undefined || this.compare(head.page[head.at] as Element<T>, least.page[least.at] as Element<T>) < 0) least = head;
    }
    return least;
  }

  private compare(a: Element<unknown>, b: Element<unknown>): number {
    return this.options.reverse ? compareElements(b, a) : compareElements(a, b);
  }
}

/** A store that was closed under a reader has moved, or was opened anew after a failure. */
export function migrated(error: unknown, store: string): unknown {
  if (!(error instanceof MillraceError) || error.code !== 'MILL_STORE_CLOSED') return error;
  return new MillraceError(
    'MILL_STORE_MIGRATED',
    `A partition of store ${store} was closed while it was read: it moved, or is opened anew.`,
    {
      cause: error,
      details: { ...error.details, store },
    },
  );
}
