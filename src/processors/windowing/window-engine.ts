/**
 * The window operator, pure: records, timers and time come in, results and late records go out. Flink's split: an assigner gives windows, a trigger says when
 * they fire, contents are kept for each key and window, one cleanup timer ends a window.
 *
 * A window takes records until the watermark reaches its last millisecond plus the allowed lateness; a record for a window that has already fired makes it
 * fire again at once. A record that no window takes any more, and that is itself that late, goes to `late`. Results carry the window's last millisecond as
 * their timestamp. Whoever runs it sets the backend's current key before `process`, and takes due timers out of the timer service for `onEventTimer` and
 * `onProcessingTimer`.
 */
import { MillraceError } from '../../errors.js';
import { serdes } from '../../serdes/serdes.js';
import type { Window } from '../../time/windowed.js';
import type { WindowAssigner } from '../../time/windowing/window-assigner.js';
import { maxTimestamp, windowId, windowOfId } from '../../time/windowing/window-span.js';
import type { ReducingState, ValueState } from '../state/keyed-state.js';
import type { KeyedStates } from '../state/keyed-states.js';
import { reducingState, valueState, type AnyStateDescriptor } from '../state/state-descriptor.js';
import type { StateScope } from '../state/state-handles.js';
import type { Timer } from '../timers/timer-queue.js';
import type { TimerService } from '../timers/timer-service.js';
import { MergingWindows, type StoredSession } from './merging-windows.js';
import { doneAtOnce } from '../result-at-once.js';
import { checkedAnswer, clearTrigger, fires, purges, type CalledTrigger, type Trigger, type TriggerResult } from './trigger.js';
import { FunctionScope, TriggerScope, type WindowInfo } from './window-context.js';
import type { OpenContents, WindowContents } from './window-contents.js';

export interface WindowDefinition<K, V, C, R> {
  readonly assigner: WindowAssigner<V>;
  readonly trigger: Trigger<V>;
  /** How long after its end, in watermark time, a window still takes records, ms. */
  readonly allowedLateness: number;
  readonly contents: WindowContents<V, C>;
  /** The results of one firing. */
  readonly apply: (key: K, contents: C, info: WindowInfo) => readonly R[];
  /** Clears what `apply` keeps in `windowState`; called when the window ends. */
  readonly clear?: (key: K, info: WindowInfo) => void;
}

/** Where results go. Called in the middle of the engine's work, so it only takes notes. */
export interface WindowResults<K, V, R> {
  result(key: K, result: R, info: WindowInfo): void;
  /** No window took the record. */
  late(key: K, value: V, timestamp: number): void;
}

const sessions = valueState<readonly StoredSession[]>('window-sessions');
const revisions = reducingState<number>('window-revision', { serde: serdes.double, reduce: (a, b) => Math.max(a, b) });

/** The states of a window operator itself, to be declared with those of its function. */
export function windowStates<V>(
  definition: Pick<WindowDefinition<never, V, never, unknown>, 'assigner' | 'trigger' | 'contents'>,
): AnyStateDescriptor[] {
  return [definition.contents.descriptor, revisions, ...(definition.assigner.merges ? [sessions] : []), ...definition.trigger.states];
}

export class WindowEngine<K, V, C, R> {
  private readonly contentsScope: StateScope;
  private readonly contents: OpenContents<V, C>;
  private readonly trigger: TriggerScope;
  private readonly info: FunctionScope;
  private readonly revisionScope: StateScope;
  private readonly revision: ReducingState<number>;
  private readonly sessions: ValueState<readonly StoredSession[]> | null;

  /** @throws MILL_TOPOLOGY_INVALID when windows merge and the trigger can't */
  constructor(
    private readonly definition: WindowDefinition<K, V, C, R>,
    private readonly states: KeyedStates,
    private readonly timers: TimerService,
    private readonly results: WindowResults<K, V, R>,
  ) {
    checkWindows(definition);
    this.contentsScope = states.scope(false);
    this.contents = definition.contents.open(states, this.contentsScope);
    this.trigger = new TriggerScope(states, timers);
    this.info = new FunctionScope(states, timers);
    this.revisionScope = states.scope(false);
    this.revision = states.state(revisions, this.revisionScope);
    this.sessions = definition.assigner.merges ? states.state(sessions, states.scope(false)) : null;
  }

  process(key: K, value: V, timestamp: number): void {
    const { assigner } = this.definition;
    const windows = assigner.assign(value, timestamp, this.timers.processingTime());
    const taken =
      this.sessions === null ? this.addToAll(windows, key, value, timestamp) : this.addToSessions(windows, key, value, timestamp);
    if (!taken && this.isLate(timestamp)) this.results.late(key, value, timestamp);
  }

  onEventTimer(timer: Timer): void {
    this.onTimer(timer, 'event');
  }

  onProcessingTimer(timer: Timer): void {
    this.onTimer(timer, 'processing');
  }

  private addToAll(windows: readonly Window[], key: K, value: V, timestamp: number): boolean {
    let taken = false;
    for (const window of windows) {
      if (this.isClosed(window)) continue;
      taken = true;
      this.addTo(window, window, key, value, timestamp);
    }
    return taken;
  }

  private addToSessions(windows: readonly Window[], key: K, value: V, timestamp: number): boolean {
    const merging = this.loadSessions();
    let taken = false;
    for (const window of windows) {
      const session = merging.add(window, (into, merged, stateWindow, mergedStates) => this.merge(into, merged, stateWindow, mergedStates));
      if (this.isClosed(session)) {
        merging.retire(session);
        continue;
      }
      taken = true;
      try {
        this.addTo(session, merging.stateWindow(session) ?? session, key, value, timestamp);
      } catch (error) {
        // Contents have moved from session to session: the list must say the same.
        merging.persist();
        throw error;
      }
    }
    merging.persist();
    return taken;
  }

  private addTo(window: Window, stateWindow: Window, key: K, value: V, timestamp: number): void {
    this.contentsScope.namespace = windowId(stateWindow);
    try {
      this.contents.add(value, timestamp);
      this.trigger.enter(window);
      const { trigger } = this.definition;
      const answer = checkedAnswer(trigger, 'onElement', trigger.onElement(value, timestamp, window, this.trigger));
      const isLate = this.eventTime && maxTimestamp(window) <= this.timers.currentWatermark;
      this.fireAndPurge(answer, window, key, isLate, false);
    } finally {
      // Also behind a function that has failed: what was added must go one day.
      this.registerCleanup(window);
    }
  }

  private merge(into: Window, merged: readonly Window[], stateWindow: Window, mergedStates: readonly Window[]): void {
    this.trigger.enter(into, merged);
    const trigger: CalledTrigger = this.definition.trigger;
    const afterMerge: unknown = trigger.onMerge?.(into, this.trigger);
    this.states.merge(revisions, windowId(into), merged.map(windowId));
    for (const window of merged) {
      this.trigger.enter(window);
      clearTrigger(trigger, window, this.trigger);
      this.deleteCleanup(window);
    }
    if (mergedStates.length > 0) this.states.merge(this.definition.contents.descriptor, windowId(stateWindow), mergedStates.map(windowId));
    doneAtOnce(`trigger ${trigger.name}: onMerge`, afterMerge);
  }

  private onTimer({ key, namespace, time }: Timer, kind: 'event' | 'processing'): void {
    const window = windowOfId(namespace);
    const merging = this.sessions === null ? null : this.loadSessions();
    const stateWindow = merging === null ? window : merging.stateWindow(window);
    // The session was merged into another since the timer was set.
    if (stateWindow === null) return;
    this.contentsScope.namespace = windowId(stateWindow);
    this.trigger.enter(window);
    const { trigger } = this.definition;
    const ends = kind === this.definition.assigner.time && time === this.cleanupTime(window);
    try {
      const answer =
        kind === 'event'
          ? checkedAnswer(trigger, 'onEventTime', trigger.onEventTime(time, window, this.trigger))
          : checkedAnswer(trigger, 'onProcessingTime', trigger.onProcessingTime(time, window, this.trigger));
      this.fireAndPurge(answer, window, key as K, false, ends);
    } finally {
      // Also when the function has failed: the timer does not come again.
      if (ends) this.end(window, key as K, merging);
    }
  }

  private fireAndPurge(answer: TriggerResult, window: Window, key: K, isLate: boolean, last: boolean): void {
    try {
      if (fires(answer)) this.fire(window, key, isLate, last);
    } finally {
      if (purges(answer)) this.contents.clear();
    }
  }

  private fire(window: Window, key: K, isLate: boolean, last: boolean): void {
    this.contents.emit((contents) => {
      const { info } = this;
      info.enter(window);
      info.isLate = isLate;
      this.revisionScope.namespace = windowId(window);
      info.revision = (this.revision.get() ?? 0) + 1;
      if (!last) this.revision.add(info.revision);
      for (const result of this.definition.apply(key, contents, info)) this.results.result(key, result, info);
    });
  }

  private end(window: Window, key: K, merging: MergingWindows | null): void {
    this.contents.clear();
    this.trigger.enter(window);
    const trigger: CalledTrigger = this.definition.trigger;
    const windowFunction: { clear?(key: K, info: WindowInfo): unknown } = this.definition;
    const afterTrigger: unknown = trigger.clear(window, this.trigger);
    let afterClear: unknown = undefined;
    this.revisionScope.namespace = windowId(window);
    this.revision.clear();
    if (windowFunction.clear !== undefined) {
      this.info.enter(window);
      afterClear = windowFunction.clear(key, this.info);
    }
    merging?.retire(window);
    merging?.persist();
    // Last, so that nothing of the window is left behind.
    doneAtOnce(`trigger ${trigger.name}: clear`, afterTrigger);
    doneAtOnce('clear', afterClear);
  }

  private loadSessions(): MergingWindows {
    return MergingWindows.load(this.sessions as ValueState<readonly StoredSession[]>);
  }

  private get eventTime(): boolean {
    return this.definition.assigner.time === 'event';
  }

  private isClosed(window: Window): boolean {
    return this.eventTime && this.cleanupTime(window) <= this.timers.currentWatermark;
  }

  private isLate(timestamp: number): boolean {
    return this.eventTime && timestamp + this.definition.allowedLateness <= this.timers.currentWatermark;
  }

  /** Infinity when the window is kept for ever. */
  private cleanupTime(window: Window): number {
    if (!this.eventTime) return maxTimestamp(window);
    const time = maxTimestamp(window) + this.definition.allowedLateness;
    return time > Number.MAX_SAFE_INTEGER ? Infinity : time;
  }

  private registerCleanup(window: Window): void {
    const time = this.cleanupTime(window);
    if (time === Infinity) return;
    if (this.eventTime) this.timers.registerEventTimer(windowId(window), time);
    else this.timers.registerProcessingTimer(windowId(window), time);
  }

  private deleteCleanup(window: Window): void {
    const time = this.cleanupTime(window);
    if (this.eventTime) this.timers.deleteEventTimer(windowId(window), time);
    else this.timers.deleteProcessingTimer(windowId(window), time);
  }
}

/** @throws MILL_TOPOLOGY_INVALID when windows merge and the trigger can't */
export function checkWindows<V>({ assigner, trigger }: { readonly assigner: WindowAssigner<V>; readonly trigger: Trigger<V> }): void {
  if (!assigner.merges || trigger.canMerge) return;
  throw new MillraceError('MILL_TOPOLOGY_INVALID', `The trigger ${trigger.name} can't be used with windows that merge (${assigner.name}).`);
}
