/**
 * Base of the operators with keyed state and timers: windows, interval joins, keyed processors.
 *
 * State and timers lie in one store of the operator. Timers are read back before the first record; until then `process` and `onWatermark` wait. Due timers are
 * fired in portions, so that a hundred thousand of them hold up neither the heartbeat nor a barrier. Records without a key are dropped and counted.
 */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import { keyValueStore } from '../connected-store.js';
import { ofRow } from '../failed-row.js';
import type { Cancellable, Operator, OperatorContext } from '../operator.js';
import type { OperatorStateStore } from '../operator-state/operator-states.js';
import { ExpiredRows } from '../state/expired-rows.js';
import type { StateAddress } from '../state/state-address.js';
import type { StoredRow } from '../state/state-row-serde.js';
import { KeyedStates } from '../state/keyed-states.js';
import type { AnyStateDescriptor } from '../state/state-descriptor.js';
import { StoreKeyedStateBackend, type KeyedStateStore } from '../state/store-keyed-state-backend.js';
import { StoredTimers } from '../timers/stored-timers.js';
import type { Timer } from '../timers/timer-queue.js';
import { TimerService, type TimerKind } from '../timers/timer-service.js';

/** Timers fired before others get their turn. */
const portion = 1_000;

export interface KeyedOperatorOptions {
  readonly storeName: string;
  /** All states of the operator. */
  readonly states: readonly AnyStateDescriptor[];
  /** State of the task that a processor has beside. Default: none. */
  readonly operatorStates?: readonly OperatorStateStore[];
}

export abstract class KeyedOperator<K, V> implements Operator<K, V> {
  declare protected context: OperatorContext;
  declare protected states: KeyedStates;
  declare protected timers: TimerService;
  declare protected backend: StoreKeyedStateBackend;
  declare private stored: StoredTimers;
  declare private expired: ReadonlyMap<string, ExpiredRows>;
  private loaded = false;
  private loading: Promise<void> | null = null;
  private alarm: { readonly at: number; readonly handle: Cancellable } | null = null;

  constructor(protected readonly options: KeyedOperatorOptions) {}

  init(context: OperatorContext): void {
    this.context = context;
    const store: KeyedStateStore = keyValueStore<StateAddress, StoredRow>(context, this.options.storeName);
    const timestamp = (): number => Math.max(0, context.record.timestamp);
    const clock = (): number => context.wallClock();
    this.expired = ExpiredRows.of(this.options.states, store, timestamp, clock);
    this.backend = new StoreKeyedStateBackend(store, this.options.states, timestamp, this.expired);
    this.states = new KeyedStates(this.backend, clock);
    this.stored = new StoredTimers(store, timestamp);
    this.timers = new TimerService(this.backend, clock, this.stored);
    this.timers.advanceWatermark(context.watermark());
    this.open();
    // Timers of an earlier life may be due although no record comes.
    this.setAlarm(clock());
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    if (!this.loaded) return this.load().then(() => this.process(key, value, timestamp));
    this.backend.setCurrentKey(key);
    for (const rows of this.expired.values()) rows.recordCame();
    let pending: MaybeAsync;
    try {
      pending = this.onRecord(key, value, timestamp);
    } catch (error) {
      // The app may go on without the record: timers that were set before it failed ring all the same.
      this.rest(-1);
      throw error;
    }
    return this.after(pending, -1);
  }

  /** At a barrier: what is expired and was not met leaves with the epoch, as far as the state's clean-up goes. */
  flush(): MaybeAsync {
    if (this.expired.size > 0) return this.removeExpired();
  }

  private async removeExpired(): Promise<void> {
    for (const rows of this.expired.values()) await rows.clean();
  }

  /** Work that belongs to no key. */
  protected withoutKey(work: () => MaybeAsync): MaybeAsync {
    if (!this.loaded) return this.load().then(() => this.withoutKey(work));
    this.backend.clearCurrentKey();
    let pending: MaybeAsync;
    try {
      pending = work();
    } catch (error) {
      this.rest(-1);
      throw error;
    }
    return this.after(pending, -1);
  }

  /** Fires a portion of what is due; `hasDueTimers` tells whether to call again. */
  onWatermark(watermark: number): MaybeAsync {
    if (!this.loaded) return this.load().then(() => this.onWatermark(watermark));
    this.timers.advanceWatermark(watermark);
    let pending: MaybeAsync;
    try {
      pending = this.fireEventTimers(portion);
    } catch (error) {
      this.rest(-1);
      throw error;
    }
    return this.after(pending, -1);
  }

  /**
   * Event time goes to the last timer that is set now, as if a watermark had brought it; one that timers set for later, while they fire, does not fire. Timers for the end of time, of windows
   * without an end, fire when no others are left: else there may always be one more before them.
   */
  async onEndOfInput(): Promise<void> {
    if (!this.loaded) await this.load();
    await this.fireUpTo(this.timers.lastEventAt);
    if (this.timers.waitsForTheEnd) await this.fireUpTo(Infinity);
  }

  private async fireUpTo(end: number): Promise<void> {
    if (end === -Infinity) return;
    do await this.onWatermark(end);
    while (this.hasDueTimers);
  }

  get hasDueTimers(): boolean {
    return this.timers.hasDueEventTimers;
  }

  /** Called once, before any record. */
  protected abstract open(): void;
  protected abstract onRecord(key: K, value: V, timestamp: number): MaybeAsync;
  protected abstract onEventTimer(timer: Timer): MaybeAsync;
  protected abstract onProcessingTimer(timer: Timer): MaybeAsync;

  /** What else has to be read back before the first record. */
  protected loadMore(): Promise<void> {
    return Promise.resolve();
  }

  private load(): Promise<void> {
    this.loading ??= this.stored.load().then(async (timers) => {
      await this.loadMore();
      this.timers.restore(timers);
      this.loaded = true;
    });
    return this.loading;
  }

  private fireEventTimers(most: number): MaybeAsync {
    for (let left = most; left > 0; left--) {
      const timer = this.timers.nextEventTimer();
      if (timer === null) return;
      this.backend.setCurrentKey(timer.key);
      const pending = this.ringOf(timer, 'event');
      if (pending !== undefined) return pending.then(() => this.fireEventTimers(left - 1));
    }
  }

  private fireProcessingTimers(now: number, most: number): MaybeAsync {
    for (let left = most; left > 0; left--) {
      const timer = this.timers.nextProcessingTimer(now);
      if (timer === null) return;
      this.backend.setCurrentKey(timer.key);
      const pending = this.ringOf(timer, 'processing');
      if (pending !== undefined) return pending.then(() => this.fireProcessingTimers(now, left - 1));
    }
  }

  /** No record is in work that could tell what an error is about: the key does. */
  private ringOf(timer: Timer, kind: TimerKind): MaybeAsync {
    try {
      const pending = kind === 'event' ? this.onEventTimer(timer) : this.onProcessingTimer(timer);
      return pending?.catch((error: unknown) => {
        throw ofRow(error, timer.key);
      });
    } catch (error) {
      throw ofRow(error, timer.key);
    }
  }

  private after(pending: MaybeAsync, earliest: number): MaybeAsync {
    if (pending === undefined) {
      this.rest(earliest);
      return;
    }
    return pending.finally(() => {
      this.rest(earliest);
    });
  }

  /** What is called later, by a timeout or a promise that nobody waits for, must not find the state of the key that happened to be last. */
  private rest(earliest: number): void {
    this.backend.clearCurrentKey();
    this.watchClock(earliest);
  }

  /** Sets the alarm to the first processing-time timer, but not before `earliest`. */
  private watchClock(earliest: number): void {
    const next = this.timers.nextProcessingAt;
    if (next !== Infinity) this.setAlarm(Math.max(0, earliest, Math.ceil(next)));
    else this.cancelAlarm();
  }

  private setAlarm(at: number): void {
    if (this.alarm?.at === at) return;
    this.cancelAlarm();
    this.alarm = { at, handle: this.context.schedule({ time: 'wallClock', interval: 1, startAt: at }, this.onAlarm) };
  }

  private cancelAlarm(): void {
    this.alarm?.handle.cancel();
    this.alarm = null;
  }

  private readonly onAlarm = (now: number): MaybeAsync => {
    this.cancelAlarm();
    if (!this.loaded) return this.load().then(() => this.ring(now));
    return this.ring(now);
  };

  private ring(now: number): MaybeAsync {
    // What is left over, also behind a timer that failed, waits for the next look at the clock.
    let pending: MaybeAsync;
    try {
      pending = this.fireProcessingTimers(now, portion);
    } catch (error) {
      this.rest(now + 1);
      throw error;
    }
    return this.after(pending, now + 1);
  }
}
