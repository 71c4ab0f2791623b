/**
 * When a window's result goes out: a trigger sees each record and each timer of a window and answers.
 *
 * `fire` emits the window's result and keeps its contents, `purge` throws the contents away, `fireAndPurge` does both. A trigger is one frozen object for all
 * keys and windows: what it remembers of a window it keeps in the context's state.
 */
import type { Window } from '../../time/windowed.js';
import { doneAtOnce, resultAtOnce } from '../result-at-once.js';
import type { StateAccess } from '../state/keyed-states.js';
import type { AnyStateDescriptor } from '../state/state-descriptor.js';

/** `fire` emits the window's result and keeps its contents, `purge` throws the contents away, `fireAndPurge` does both, `continue` neither. */
export type TriggerResult = 'continue' | 'fire' | 'purge' | 'fireAndPurge';

/** When a window's result goes out: it sees each record and each timer of a window and answers. One object for all keys and windows: what it remembers of a window it keeps in the context's state. */
export interface Trigger<V = unknown> {
  /** Shown in errors. */
  readonly name: string;
  /** The states it uses, so that they can be stored. */
  readonly states: readonly AnyStateDescriptor[];
  /** False when it can't be used with sessions. */
  readonly canMerge: boolean;
  /** A record has come into the window; `timestamp` in ms since the epoch. */
  onElement(value: V, timestamp: number, window: Window, context: TriggerContext): TriggerResult;
  /** An event-time timer of the window fires, registered for `time`. */
  onEventTime(time: number, window: Window, context: TriggerContext): TriggerResult;
  /** A timer of the wall clock fires, registered for `time`. */
  onProcessingTime(time: number, window: Window, context: TriggerContext): TriggerResult;
  /** `window` has just become of several: move the state (`mergeState`) and set timers anew. */
  onMerge?(window: Window, context: MergeContext): void;
  /** The window is gone: delete timers and state. */
  clear(window: Window, context: TriggerContext): void;
}

/** Bound to the current key and window. */
export interface TriggerContext extends StateAccess {
  /** Event time of the task, ms since the epoch; -Infinity before the first watermark. */
  readonly watermark: number;
  /** ms of the wall clock. */
  readonly processingTime: number;
  /** Has `onEventTime` called when the watermark reaches `time`, ms since the epoch. */
  registerEventTimer(time: number): void;
  /** Has `onProcessingTime` called when the clock reaches `time`, ms since the epoch. */
  registerProcessingTimer(time: number): void;
  /** Does nothing when there is none. */
  deleteEventTimer(time: number): void;
  /** Does nothing when there is none. */
  deleteProcessingTimer(time: number): void;
}

/** The context while windows merge, bound to the new one. */
export interface MergeContext extends TriggerContext {
  /** Moves the state of the windows that were merged into the new one. */
  mergeState(descriptor: AnyStateDescriptor): void;
}

/** A trigger as it is called: in plain JavaScript, and of an async method, what should give nothing may give a promise. */
export interface CalledTrigger {
  readonly name: string;
  onMerge?(window: Window, context: MergeContext): unknown;
  clear(window: Window, context: TriggerContext): unknown;
}

/** @throws TypeError when `clear` gives a promise */
export function clearTrigger(trigger: CalledTrigger, window: Window, context: TriggerContext): void {
  doneAtOnce(`trigger ${trigger.name}: clear`, trigger.clear(window, context));
}

const answers: ReadonlySet<unknown> = new Set<TriggerResult>(['continue', 'fire', 'purge', 'fireAndPurge']);

/**
 * What a trigger answers: anything else would be taken for `continue`, and its windows never fire.
 *
 * @param call of the trigger, as in `onElement`
 * @throws TypeError
 */
export function checkedAnswer({ name }: Pick<Trigger, 'name'>, call: string, answer: TriggerResult): TriggerResult {
  if (answers.has(answer)) return answer;
  const what = `trigger ${name}: ${call}`;
  throw new TypeError(
    `${what} gave ${JSON.stringify(resultAtOnce(what, answer))}: it must give 'continue', 'fire', 'purge' or 'fireAndPurge'`,
  );
}

export function fires(result: TriggerResult): boolean {
  return result === 'fire' || result === 'fireAndPurge';
}

export function purges(result: TriggerResult): boolean {
  return result === 'purge' || result === 'fireAndPurge';
}
