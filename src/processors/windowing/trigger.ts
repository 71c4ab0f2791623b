/**
 * When a window's result goes out: a trigger sees each record and each timer of a window and answers.
 *
 * `fire` emits the window's result and keeps its contents, `purge` throws the contents away, `fireAndPurge` does both. A trigger is one frozen object for all
 * keys and windows: what it remembers of a window it keeps in the context's state.
 */
import type { Window } from '../../time/windowed.js';
import type { StateAccess } from '../state/keyed-states.js';
import type { AnyStateDescriptor } from '../state/state-descriptor.js';

export type TriggerResult = 'continue' | 'fire' | 'purge' | 'fireAndPurge';

export interface Trigger<V = unknown> {
  readonly name: string;
  /** The states it uses, so that they can be stored. */
  readonly states: readonly AnyStateDescriptor[];
  /** False when it can't be used with sessions. */
  readonly canMerge: boolean;
  onElement(value: V, timestamp: number, window: Window, context: TriggerContext): TriggerResult;
  onEventTime(time: number, window: Window, context: TriggerContext): TriggerResult;
  onProcessingTime(time: number, window: Window, context: TriggerContext): TriggerResult;
  /** `window` has just become of several: move the state (`mergeState`) and set timers anew. */
  onMerge?(window: Window, context: MergeContext): void;
  /** The window is gone: delete timers and state. */
  clear(window: Window, context: TriggerContext): void;
}

/** Bound to the current key and window. */
export interface TriggerContext extends StateAccess {
  readonly watermark: number;
  /** ms of the wall clock. */
  readonly processingTime: number;
  registerEventTimer(time: number): void;
  registerProcessingTimer(time: number): void;
  deleteEventTimer(time: number): void;
  deleteProcessingTimer(time: number): void;
}

export interface MergeContext extends TriggerContext {
  /** Moves the state of the windows that were merged into the new one. */
  mergeState(descriptor: AnyStateDescriptor): void;
}

export function fires(result: TriggerResult): boolean {
  return result === 'fire' || result === 'fireAndPurge';
}

export function purges(result: TriggerResult): boolean {
  return result === 'purge' || result === 'fireAndPurge';
}
