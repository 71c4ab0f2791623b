/** What the read-only views of all kinds of stores share: which partitions they read, and how they wait. */
import { MillraceError } from '../../errors.js';
import type { StoreKind } from '../../stores/store.js';
import type { ElementSource } from '../element-source.js';
import { partitionOf } from '../key-partition.js';
import type { KeyPartitioner } from '../key-partition.js';
import { absence } from '../known-store.js';
import type { KnownStore, LocalPartitions } from '../known-store.js';
import { iteratorOptions } from '../partition-outcomes.js';
import { mergePositions } from '../position.js';
import type { Position } from '../position.js';
import { QueryIterator } from '../query-iterator.js';
import type { Query, QueryBody } from '../query.js';
import { failureError } from '../state-query.js';
import type { ReadOptions } from '../state-query.js';
import type { PartitionAnswer, Question, ReadCheck, StoreReads } from '../store-reads.js';

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
    private readonly queries: StoreReads,
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
    let found: readonly number[] = [];
    let there: LocalPartitions = { owned: [], count: null };
    const given = await this.read(query, (partitions, here) => {
      [found, there] = [partitions, here];
      this.forKey(partitions);
    });
    let nothing: { readonly answer: R } | null = null;
    for (const { answer } of given) {
      const value = (answer.kind === 'value' ? answer.value : null) as R;
      if (!isNothing(value)) return value;
      nothing = { answer: value };
    }
    this.mustBeHere(key, found, there);
    if (nothing === null) throw this.noneHere(there);
    return nothing.answer;
  }

  /** Rows of one key. */
  protected rowsOfKey<R>(key: K, query: Query<QueryIterator<R>>): QueryIterator<R> {
    return this.iterator(query, (found, here) => {
      this.forKey(found);
      this.mustBeHere(key, found, here);
    });
  }

  /** Rows of all keys. */
  protected rowsOfAll<R>(query: Query<QueryIterator<R>>): QueryIterator<R> {
    return this.iterator(query, (found, here) => this.forAll(found, here));
  }

  protected async approximateRows(): Promise<number> {
    const given = await this.read({ kind: 'approximateCount' }, (found, here) => this.forAll(found, here));
    return given.reduce((sum, { answer }) => sum + (answer.kind === 'value' ? (answer.value as number) : 0), 0);
  }

  private iterator<R>(query: QueryBody, check: ReadCheck): QueryIterator<R> {
    const open = async () => {
      const given = await this.read(query, check);
      const sources = given.flatMap(({ answer }) => (answer.kind === 'rows' ? (answer.sources as readonly ElementSource<R>[]) : []));
      return { sources, position: mergePositions(given.map(({ position }) => position)) };
    };
    return new QueryIterator<R>(open, iteratorOptions(this.name, query));
  }

  private read(question: Question, check: ReadCheck): Promise<readonly PartitionAnswer[]> {
    const { isolation, standbys, timeout, partitions, atLeast } = this.options;
    return this.queries.read({ store: this.name, isolation, standbys, timeout, partitions, atLeast }, question, check);
  }

  private forKey(found: readonly number[]): void {
    if (found.length === 0 && this.store.subTopology === null) throw this.noneHere({ owned: [], count: null });
  }

  private forAll(found: readonly number[], here: LocalPartitions): void {
    const { subTopology } = this.store;
    const wanted = this.options.partitions ?? (subTopology === null ? [] : here.owned);
    for (const partition of wanted) if (!found.includes(partition)) throw this.absent(partition, here);
    if (found.length === 0) throw this.noneHere(here);
  }

  /** A key that was not found is absent only if it would have been found: its partition, or all of them, must have been read. */
  private mustBeHere(key: K, read: readonly number[], here: LocalPartitions): void {
    const { subTopology, spec } = this.store;
    if (subTopology === null) return;
    const { count } = here;
    if (count === null) throw this.noneHere(here);
    if (read.length >= count) return;
    const partition = partitionOf(key, this.queries.host.serdes(spec).key, count, this.options.partitioner);
    if (!read.includes(partition)) throw this.absent(partition, here);
  }

  private absent(partition: number, here: LocalPartitions): unknown {
    return failureError(absence(this.store, partition, here));
  }

  private noneHere({ count }: LocalPartitions): MillraceError {
    const isKnown = this.store.subTopology !== null && count !== null;
    return new MillraceError(
      isKnown ? 'MILL_STORE_NOT_LOCAL' : 'MILL_STORE_NOT_AVAILABLE',
      isKnown ? `This instance has no partition of store ${this.name}.` : `Store ${this.name} is not open here yet.`,
      { details: { store: this.name } },
    );
  }
}
