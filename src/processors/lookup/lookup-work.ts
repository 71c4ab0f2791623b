/**
 * The lookup join: each record asks something outside for the row of its key, and goes on with it. An asynchronous operator in all else.
 *
 * Records that ask for the same key at the same time share a call, in each task; with a cache a key that was asked for lately is not asked for again.
 */
import { isPromiseLike, type MaybeAsync } from '../../bytes/maybe-async.js';
import type { CompiledSerde, Serde } from '../../serdes/serde.js';
import type { AsyncCall, AsyncWork } from '../async/async-operator.js';
import { describeValue } from '../../serdes/serde-error.js';
import { keyValueStore } from '../connected-store.js';
import { gaveUndefined } from '../defined-result.js';
import type { OperatorContext } from '../operator.js';
import { keyIdentity } from '../state/key-identity.js';
import type { Awaitable, TableJoiner } from '../user-functions.js';
import { LookupCache, type Found, type LookupCacheRules } from './lookup-cache.js';
import { lookupRow } from './lookup-row.js';

/** What a lookup is told of its call, which may be for several records. */
export type LookupCall = Pick<AsyncCall, 'signal' | 'attempt'>;

/** Finds the row of a key. null or undefined: there is none. */
export type Lookup<KL, VL> = (key: KL, call: LookupCall) => VL | null | undefined | PromiseLike<VL | null | undefined>;

export interface LookupDefinition<K, V, KL, VL, VR> {
  readonly keyOf: (value: V, key: K) => KL | null;
  readonly lookup: Lookup<KL, VL>;
  readonly joiner: TableJoiner<K, V, VL | null, VR>;
  /** Records without a row are joined with null. */
  readonly isLeft: boolean;
  /** Calls of a key when none finds a row; 1: the first answer counts. */
  readonly attemptsForRow: number;
  readonly keySerde: Serde<KL>;
  readonly cache: LookupCacheDefinition<VL> | null;
}

export interface LookupCacheDefinition<VL> extends LookupCacheRules {
  readonly storeName: string;
  /** Of the rows. */
  readonly valueSerde: Serde<VL>;
}

/** Makes the rules of repetition call again for a row that is not there yet. */
export class MissingRow extends Error {}

interface Answer<KL, VL> {
  /** What the cache has to keep; null: nothing. */
  readonly found: Found<KL, VL> | null;
  /** Where each record takes its row from: with a cache a row of its own. */
  readonly source: { readonly row: VL | null };
}

/** The record has no key to look up, or no value to join. */
const noKey = { found: null, source: { row: null } } as const;
const noValue = { found: null, source: { row: null } } as const;

export class LookupWork<K, V, KL, VL, VR> implements AsyncWork<K, V, Answer<KL, VL>> {
  declare private context: OperatorContext;
  declare private keySerde: Serde<KL>;
  private cache: LookupCache<KL, VL> | null = null;
  private rowSerde: CompiledSerde<VL> | null = null;

  constructor(private readonly definition: LookupDefinition<K, V, KL, VL, VR>) {}

  init(context: OperatorContext): void {
    const { cache, keySerde } = this.definition;
    this.context = context;
    this.keySerde = context.serde(keySerde, 'key').serde;
    if (cache === null) return;
    this.rowSerde = context.serde(cache.valueSerde, 'value');
    this.cache = new LookupCache(cache, keyValueStore(context, cache.storeName), context, (key) => this.idOf(key));
  }

  question(value: V, key: K): unknown {
    if (isNothing(value)) return null;
    const lookupKey = this.triedKey(value, key);
    return lookupKey === null || lookupKey === failed ? null : this.idOf(lookupKey);
  }

  answer(value: V, key: K): { readonly result: Answer<KL, VL> } | null {
    if (isNothing(value)) return { result: noValue };
    const lookupKey = this.triedKey(value, key);
    if (lookupKey === null) return { result: noKey };
    if (lookupKey === failed || this.cache === null) return null;
    const known = this.cache.get(this.idOf(lookupKey), lookupKey);
    if (known === null) return null;
    this.context.calls.count(known.isMissing ? 'missingHit' : 'hit');
    return { result: { found: null, source: known } };
  }

  call(value: V, key: K, { signal, attempt }: AsyncCall): Answer<KL, VL> | PromiseLike<Answer<KL, VL>> {
    const lookupKey = this.keyOf(value, key) as KL;
    if (attempt === 1 && this.cache !== null) {
      this.context.calls.count('miss');
      if (this.cache.hasExpired(this.idOf(lookupKey), lookupKey)) this.context.calls.count('expired');
    }
    const askedAt = this.context.wallClock();
    const row = this.definition.lookup(lookupKey, { signal, attempt });
    if (!isPromiseLike(row)) return this.answered(lookupKey, row, askedAt, attempt);
    return row.then((later) => this.answered(lookupKey, later, askedAt, attempt));
  }

  learn({ found }: Answer<KL, VL>): void {
    if (found !== null) this.cache?.learn(found);
  }

  send(answer: Answer<KL, VL>, value: V, key: K, timestamp: number): MaybeAsync {
    const keeping = answer.found === null ? undefined : this.cache?.keep(answer.found);
    if (keeping !== undefined) return keeping.then(() => this.join(answer, value, key, timestamp));
    return this.join(answer, value, key, timestamp);
  }

  private join(answer: Answer<KL, VL>, value: V, key: K, timestamp: number): MaybeAsync {
    const { joiner, isLeft } = this.definition;
    if (answer === noValue) {
      this.context.dropped('null-value');
      return;
    }
    const { row } = answer.source;
    if (row === null && !isLeft) {
      if (answer === noKey) this.context.dropped('null-join-key');
      return;
    }
    const joined: Awaitable<VR> = joiner(value, row, key);
    if (!isPromiseLike(joined)) return this.context.downstream.process(key, joined, timestamp);
    return Promise.resolve(joined).then((later) => this.context.downstream.process(key, later, timestamp));
  }

  private answered(key: KL, given: VL | null | undefined, askedAt: number, attempt: number): Answer<KL, VL> {
    const row = given ?? null;
    if (row === null && attempt < this.definition.attemptsForRow) throw new MissingRow('the lookup has found no row');
    if (this.rowSerde === null) return { found: null, source: { row } };
    const where = (): string => `${this.context.nodeName}: the row found for ${describeValue(key)} can't be kept in the cache`;
    const kept = lookupRow(row, askedAt, this.rowSerde, where);
    return { found: { key, id: this.idOf(key), row: kept }, source: kept };
  }

  private keyOf(value: V, key: K): KL | null {
    const lookupKey = this.definition.keyOf(value, key);
    if (lookupKey === undefined) throw gaveUndefined('lookupJoin: keyOf');
    if (isPromiseLike(lookupKey)) throw new TypeError('lookupJoin: keyOf gave a promise: it must give the key at once, or null for none');
    return lookupKey;
  }

  /** An error of `keyOf` belongs into the record's turn: `call` meets it again. */
  private triedKey(value: V, key: K): KL | null | typeof failed {
    try {
      return this.keyOf(value, key);
    } catch {
      return failed;
    }
  }

  private idOf(key: KL): unknown {
    return keyIdentity(key, this.keySerde);
  }
}

const failed = Symbol('keyOf failed');

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}
