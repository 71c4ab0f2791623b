/** What triggers and window functions may do, bound to the window in work. One object of each an operator: the engine sets `window` before it calls. */
import type { Window } from '../../time/windowed.js';
import { globalWindow, windowId } from '../../time/windowing/window-span.js';
import type { KeyedStates, StateAccess } from '../state/keyed-states.js';
import type { AnyStateDescriptor } from '../state/state-descriptor.js';
import type { StateScope } from '../state/state-handles.js';
import type { TimerService } from '../timers/timer-service.js';
import type { MergeContext } from './trigger.js';

/** Handles of states in one scope, made once for each descriptor. */
class ScopedStates {
  private readonly handles = new Map<AnyStateDescriptor, unknown>();

  constructor(
    private readonly states: KeyedStates,
    readonly scope: StateScope,
  ) {}

  readonly state: StateAccess['state'] = (descriptor: AnyStateDescriptor): never => {
    let handle = this.handles.get(descriptor);
    if (handle === undefined) this.handles.set(descriptor, (handle = this.states.state(descriptor as never, this.scope)));
    return handle as never;
  };
}

export class TriggerScope implements MergeContext {
  readonly state: StateAccess['state'];
  private readonly scoped: ScopedStates;
  private current: Window = globalWindow;
  private merged: readonly Window[] = [];

  constructor(
    private readonly states: KeyedStates,
    private readonly timers: TimerService,
  ) {
    this.scoped = new ScopedStates(states, states.scope(false));
    this.state = this.scoped.state;
  }

  /** Goes to a window; `merged` are those that have just become it. */
  enter(window: Window, merged: readonly Window[] = []): void {
    this.current = window;
    this.merged = merged;
    this.scoped.scope.namespace = windowId(window);
  }

  get window(): Window {
    return this.current;
  }

  get watermark(): number {
    return this.timers.currentWatermark;
  }

  get processingTime(): number {
    return this.timers.processingTime();
  }

  registerEventTimer(time: number): void {
    this.timers.registerEventTimer(this.scoped.scope.namespace, time);
  }

  registerProcessingTimer(time: number): void {
    this.timers.registerProcessingTimer(this.scoped.scope.namespace, time);
  }

  deleteEventTimer(time: number): void {
    this.timers.deleteEventTimer(this.scoped.scope.namespace, time);
  }

  deleteProcessingTimer(time: number): void {
    this.timers.deleteProcessingTimer(this.scoped.scope.namespace, time);
  }

  mergeState(descriptor: AnyStateDescriptor): void {
    this.states.merge(descriptor, this.scoped.scope.namespace, this.merged.map(windowId));
  }
}

/** What a window function is told of its window, beside key and contents. */
export interface WindowInfo {
  readonly window: Window;
  /** ms; -Infinity before the first. */
  readonly watermark: number;
  /** ms of the wall clock. */
  readonly processingTime: number;
  /** True when a late record changed a result that had, or could have, gone out before. */
  readonly isLate: boolean;
  /** 1 for the window's first result, then 2, 3, …: a sink keeps the highest. */
  readonly revision: number;
  /** State of this key and window. The function's `clear` must clear it. */
  readonly windowState: StateAccess['state'];
  /** State of this key, over all windows. */
  readonly globalState: StateAccess['state'];
}

export class FunctionScope implements WindowInfo {
  window: Window = globalWindow;
  isLate = false;
  revision = 0;
  readonly windowState: StateAccess['state'];
  readonly globalState: StateAccess['state'];
  private readonly scoped: ScopedStates;

  constructor(
    states: KeyedStates,
    private readonly timers: TimerService,
  ) {
    this.scoped = new ScopedStates(states, states.scope(true));
    this.windowState = this.scoped.state;
    this.globalState = new ScopedStates(states, states.scope(true)).state;
  }

  enter(window: Window): void {
    this.window = window;
    this.scoped.scope.namespace = windowId(window);
  }

  get watermark(): number {
    return this.timers.currentWatermark;
  }

  get processingTime(): number {
    return this.timers.processingTime();
  }
}
