/**
 * The cache of a lookup join: what was found for each key, in a store of the task, so that it is logged, restored and committed with the epoch.
 *
 * Rows leave when their time is over, also those that nobody asks for, and the oldest when there are too many. What has been asked for and has not had its turn in the task yet is
 * known too: the store changes only in a record's turn, and until then another record of the key must not ask again.
 */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import type { TimestampedKeyValueStore } from '../../stores/store.js';
import type { Cancellable, OperatorContext } from '../operator.js';
import { AgeList } from './age-list.js';
import type { LookupRow } from './lookup-row.js';

export interface LookupCacheRules {
  /** ms of the wall clock that a row is used. */
  readonly ttl: number;
  /** The same for a key that has none; 0: that is not kept. */
  readonly missingTtl: number;
  /** In each task. */
  readonly maxRows: number;
}

/** What was found for a key. */
export interface Found<KL, VL> {
  readonly key: KL;
  /** Tells keys apart in a Map. */
  readonly id: unknown;
  readonly row: LookupRow<VL>;
}

/** Rows removed before others get their turn, and how soon after, ms. */
const portion = 1_000;
const pauseMs = 1_000;

export class LookupCache<KL, VL> {
  /** Found, and not in the store yet. */
  private readonly fresh = new Map<unknown, Found<KL, VL>>();
  private readonly found = new AgeList<KL>();
  private readonly missing = new AgeList<KL>();
  private loading: Promise<void> | null = null;
  private isLoaded = false;
  private alarm: Cancellable | null = null;

  /** @param identity what tells keys apart in a Map */
  constructor(
    private readonly rules: LookupCacheRules,
    private readonly store: TimestampedKeyValueStore<KL, LookupRow<VL>>,
    private readonly context: OperatorContext,
    private readonly identity: (key: KL) => unknown,
  ) {
    this.setAlarm(context.wallClock() + pauseMs);
  }

  /** null: nothing is known, or not any more. */
  get(id: unknown, key: KL): LookupRow<VL> | null {
    const row = this.kept(id, key);
    return row === null || this.isExpired(row) ? null : row;
  }

  /** Whether there is a row whose time is over. */
  hasExpired(id: unknown, key: KL): boolean {
    const row = this.kept(id, key);
    return row !== null && this.isExpired(row);
  }

  /** Known from now on, before its turn. */
  learn(found: Found<KL, VL>): void {
    if (this.ttlOf(found.row) > 0) this.fresh.set(found.id, found);
  }

  /** In the record's turn: what was learnt goes into the store, once however many records share it. */
  keep(found: Found<KL, VL>): MaybeAsync {
    if (this.fresh.get(found.id) !== found) return;
    if (!this.isLoaded) return this.load().then(() => this.keep(found));
    this.fresh.delete(found.id);
    this.store.put(found.key, found.row, this.timestamp());
    this.note(found.id, found.key, found.row);
    while (this.found.size + this.missing.size > this.rules.maxRows) this.removeOldest();
    this.setAlarm(this.nextExpiry());
  }

  private kept(id: unknown, key: KL): LookupRow<VL> | null {
    return this.fresh.get(id)?.row ?? this.store.get(key);
  }

  private note(id: unknown, key: KL, row: LookupRow<VL>): void {
    this.found.delete(id);
    this.missing.delete(id);
    (row.isMissing ? this.missing : this.found).add(id, key, row.askedAt);
  }

  private removeOldest(): void {
    const list = this.found.oldestAt <= this.missing.oldestAt ? this.found : this.missing;
    this.remove(list);
  }

  private remove(list: AgeList<KL>): void {
    const oldest = list.takeOldest();
    if (oldest !== null) this.store.put(oldest.key, null, this.timestamp());
  }

  private nextExpiry(): number {
    return Math.min(this.found.oldestAt + this.rules.ttl, this.missing.oldestAt + this.rules.missingTtl);
  }

  private setAlarm(at: number): void {
    if (this.alarm !== null || at === Infinity) return;
    const startAt = Math.ceil(Math.max(at, this.context.wallClock() + pauseMs));
    this.alarm = this.context.schedule({ time: 'wallClock', interval: pauseMs, startAt }, this.onAlarm);
  }

  private readonly onAlarm = (now: number): MaybeAsync => {
    this.alarm?.cancel();
    this.alarm = null;
    if (!this.isLoaded) return this.load().then(() => this.removeExpired(now));
    this.removeExpired(now);
  };

  private removeExpired(now: number): void {
    const { ttl, missingTtl } = this.rules;
    for (let left = portion; left > 0; left--) {
      if (this.found.oldestAt + ttl <= now) this.remove(this.found);
      else if (this.missing.oldestAt + missingTtl <= now) this.remove(this.missing);
      else break;
    }
    this.setAlarm(this.nextExpiry());
  }

  /** Reads back what an earlier life of the task has kept: how old each row is. */
  private load(): Promise<void> {
    this.loading ??= this.readAll().then((rows) => {
      for (const [key, row] of rows.toSorted((a, b) => a[1].askedAt - b[1].askedAt)) this.note(this.identity(key), key, row);
      this.isLoaded = true;
    });
    return this.loading;
  }

  private async readAll(): Promise<(readonly [KL, LookupRow<VL>])[]> {
    const rows: (readonly [KL, LookupRow<VL>])[] = [];
    for await (const [key, { value }] of this.store.range()) rows.push([key, value]);
    return rows;
  }

  private isExpired(row: LookupRow<VL>): boolean {
    return row.askedAt + this.ttlOf(row) <= this.context.wallClock();
  }

  private ttlOf({ isMissing }: LookupRow<VL>): number {
    return isMissing ? this.rules.missingTtl : this.rules.ttl;
  }

  private timestamp(): number {
    return Math.max(0, this.context.record.timestamp);
  }
}
