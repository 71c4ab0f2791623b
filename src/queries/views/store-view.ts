/** What the read-only views of all kinds of stores share: which partitions they read, and how they wait. */
import { MillraceError } from '../../errors.js';
import type { StoreKind } from '../../stores/store.js';
import type { ElementSource } from '../element-source.js';
import { partitionOf } from '../key-partition.js';
import type { KeyPartitioner } from '../key-partition.js';
import { emptyPosition, mergePositions, reaches } from '../position.js';
import type { Position } from '../position.js';
import { migrated, QueryIterator } from '../query-iterator.js';
import type { HostedTask, Isolation } from '../query-host.js';
import type { Query, QueryBody } from '../query.js';
import { failureError } from '../state-query.js';
import type { ReadOptions } from '../state-query.js';
import { iteratorOptions } from '../store-queries.js';
import type { KnownStore, StoreQueries } from '../store-queries.js';

export interface ViewOptions<K> extends ReadOptions {
  /** Default: all that this instance runs. */
  readonly partitions?: readonly number[];
  /** Every read waits until the store has processed the records up to here, at most `timeout`: to read one's own writes. */
  readonly atLeast?: Position;
  /** Tells, when a key is not found, whether it could be here. Default: Kafka's default partitioner. */
  readonly partitioner?: KeyPartitioner<K>;
}

export abstract class StoreView<K> {
  protected readonly store: KnownStore;

  /** @throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_STORE_WRONG_TYPE */
  constructor(
    private readonly queries: StoreQueries,
    readonly name: string,
    private readonly options: ViewOptions<K>,
    kinds: readonly StoreKind[],
  ) {
    this.store = queries.known(name);
    const { kind } = this.store.spec;
    if (kinds.includes(kind)) return;
    throw new MillraceError('MILL_STORE_WRONG_TYPE', `Store ${name} is of kind ${kind}, not one of ${kinds.join(', ')}.`, {
      details: { store: name, kind },
    });
  }

  /** What one partition answers about a key; `isNothing` tells an answer that leaves the question open. */
  protected async ofKey<R>(key: K, query: Query<R>, isNothing: (answer: R) => boolean = (answer) => answer === null): Promise<R> {
    const { isolation, tasks } = await this.ready((here) => this.forKey(here));
    return this.reading(() => {
      let nothing: { readonly answer: R } | null = null;
      for (const task of tasks) {
        const answer = this.answer(query, task, isolation) as R;
        if (!isNothing(answer)) return answer;
        nothing = { answer };
      }
      this.mustBeHere(key, tasks);
      if (nothing === null) throw this.noneHere();
      return nothing.answer;
    });
  }

  /** Rows of one key. */
  protected rowsOfKey<R>(key: K, query: Query<QueryIterator<R>>): QueryIterator<R> {
    return this.iterator(query, (tasks) => {
      const chosen = this.forKey(tasks);
      this.mustBeHere(key, chosen);
      return chosen;
    });
  }

  /** Rows of all keys. */
  protected rowsOfAll<R>(query: Query<QueryIterator<R>>): QueryIterator<R> {
    return this.iterator(query, (tasks) => this.forAll(tasks));
  }

  protected async sumOver(count: (task: HostedTask) => number): Promise<number> {
    const { tasks } = await this.ready((here) => this.forAll(here));
    return this.reading(() => tasks.reduce((sum, task) => sum + count(task), 0));
  }

  private iterator<R>(query: QueryBody, choose: (tasks: readonly HostedTask[]) => readonly HostedTask[]): QueryIterator<R> {
    const open = async () => {
      const { isolation, tasks } = await this.ready(choose);
      const sources = this.sourcesOf<R>(query, tasks, isolation);
      return { sources, position: mergePositions(tasks.map((task) => task.position(isolation))) };
    };
    return new QueryIterator<R>(open, iteratorOptions(this.name, query));
  }

  private sourcesOf<R>(query: QueryBody, tasks: readonly HostedTask[], isolation: Isolation): ElementSource<R>[] {
    const sources: ElementSource<R>[] = [];
    try {
      for (const task of tasks) {
        const answer = this.queries.answer(this.store, query, task, isolation);
        if (answer.kind === 'rows') sources.push(...(answer.sources as readonly ElementSource<R>[]));
      }
      return sources;
    } catch (error) {
      for (const source of sources) source.close().catch(() => undefined);
      throw error;
    }
  }

  private answer(query: QueryBody, task: HostedTask, isolation: Isolation): unknown {
    const answer = this.queries.answer(this.store, query, task, isolation);
    return answer.kind === 'value' ? answer.value : null;
  }

  private async ready(choose: (tasks: readonly HostedTask[]) => readonly HostedTask[]) {
    const { atLeast = emptyPosition } = this.options;
    const lags = (tasks: readonly HostedTask[], isolation: Isolation): HostedTask | undefined =>
      tasks.find((task) => !reaches(task.position(isolation), atLeast, task.partition));
    const readable = await this.queries.readable(
      this.name,
      this.options,
      choose,
      (tasks, isolation) => lags(tasks, isolation) === undefined,
    );
    const behind = lags(readable.tasks, readable.isolation);
    if (behind === undefined) return readable;
    const { partition } = behind;
    throw failureError({
      ok: false,
      partition,
      reason: 'notUpToBound',
      message: `Partition ${partition} of store ${this.name} has not got as far as asked.`,
      position: behind.position(readable.isolation),
    });
  }

  /** Partitions that may be read, of those that are open. */
  private readableOnes(tasks: readonly HostedTask[]): readonly HostedTask[] {
    const { standbys, partitions } = this.options;
    return tasks.filter(({ role, partition }) => (role === 'active' || standbys === 'use') && (partitions?.includes(partition) ?? true));
  }

  private forKey(tasks: readonly HostedTask[]): readonly HostedTask[] {
    const chosen = this.readableOnes(tasks);
    if (chosen.length === 0 && this.store.subTopology === null) throw this.noneHere();
    return chosen;
  }

  private forAll(tasks: readonly HostedTask[]): readonly HostedTask[] {
    const { subTopology } = this.store;
    const chosen = this.readableOnes(tasks);
    const wanted = this.options.partitions ?? (subTopology === null ? [] : this.queries.host.ownedPartitions(subTopology));
    for (const partition of wanted) if (!chosen.some((task) => task.partition === partition)) throw this.absent(partition);
    if (chosen.length === 0) throw this.noneHere();
    return chosen;
  }

  /** A key that was not found is absent only if it would have been found: its partition, or all of them, must have been read. */
  private mustBeHere(key: K, read: readonly HostedTask[]): void {
    const { subTopology, spec } = this.store;
    if (subTopology === null) return;
    const { host } = this.queries;
    const count = host.partitionCount(subTopology);
    if (count === null) throw this.noneHere();
    if (read.length >= count) return;
    const partition = partitionOf(key, host.serdes(spec).key, count, this.options.partitioner);
    if (!read.some((task) => task.partition === partition)) throw this.absent(partition);
  }

  private absent(partition: number): unknown {
    const [reason, message] = this.queries.whyAbsent(this.store, this.name, partition);
    return failureError({ ok: false, partition, reason, message });
  }

  private noneHere(): MillraceError {
    const { host } = this.queries;
    const { subTopology } = this.store;
    const isKnown = subTopology !== null && host.partitionCount(subTopology) !== null;
    return new MillraceError(
      isKnown ? 'MILL_STORE_NOT_LOCAL' : 'MILL_STORE_NOT_AVAILABLE',
      isKnown ? `This instance has no partition of store ${this.name}.` : `Store ${this.name} is not open here yet.`,
      { details: { store: this.name } },
    );
  }

  private reading<R>(read: () => R): R {
    try {
      return read();
    } catch (error) {
      throw migrated(error, this.name);
    }
  }
}
