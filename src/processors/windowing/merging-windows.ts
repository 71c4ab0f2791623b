/**
 * The sessions of one key, each with the window whose namespace its contents lie in. When a session grows, its contents stay where they are; only when two
 * sessions with contents become one are contents moved.
 */
import type { Window } from '../../time/windowed.js';
import { mergeWindows, sameWindow } from '../../time/windowing/window-span.js';
import type { ValueState } from '../state/keyed-state.js';

/** `[start, end, start of the state window, end of the state window]` */
export type StoredSession = readonly [number, number, number, number];

interface Session {
  readonly window: Window;
  readonly stateWindow: Window;
}

/** Called when existing sessions become one, possibly with a new window. */
export type OnMerge = (into: Window, merged: readonly Window[], stateWindow: Window, mergedStateWindows: readonly Window[]) => void;

export class MergingWindows {
  private changed = false;

  private constructor(
    private readonly state: ValueState<readonly StoredSession[]>,
    private sessions: Session[],
  ) {}

  /** The sessions of the current key. */
  static load(state: ValueState<readonly StoredSession[]>): MergingWindows {
    const sessions = (state.value() ?? []).map(([start, end, stateStart, stateEnd]) => ({
      window: { start, end },
      stateWindow: { start: stateStart, end: stateEnd },
    }));
    return new MergingWindows(state, sessions);
  }

  /** Null when the window is no session any more: it was merged into another. */
  stateWindow(window: Window): Window | null {
    return this.sessions.find((session) => sameWindow(session.window, window))?.stateWindow ?? null;
  }

  retire(window: Window): void {
    this.sessions = this.sessions.filter((session) => !sameWindow(session.window, window));
    this.changed = true;
  }

  /** Takes a record's window in; gives the session that it has become part of. */
  add(window: Window, onMerge: OnMerge): Window {
    const existing = this.sessions.map((session) => session.window);
    const group = mergeWindows([...existing, window]).find(({ merged }) => merged.includes(window));
    if (group === undefined) {
      this.sessions.push({ window, stateWindow: window });
      this.changed = true;
      return window;
    }
    // Their contents one after the other, as the sessions were, whichever was touched last.
    const old = this.sessions
      .filter((session) => group.merged.includes(session.window))
      .toSorted((a, b) => a.window.start - b.window.start);
    const [first, ...rest] = old as [Session, ...Session[]];
    if (rest.length === 0 && sameWindow(first.window, group.into)) return first.window;
    this.sessions = this.sessions.filter((session) => !old.includes(session));
    this.sessions.push({ window: group.into, stateWindow: first.stateWindow });
    this.changed = true;
    onMerge(
      group.into,
      old.map((session) => session.window),
      first.stateWindow,
      rest.map((session) => session.stateWindow),
    );
    return group.into;
  }

  persist(): void {
    if (!this.changed) return;
    this.changed = false;
    const { sessions } = this;
    if (sessions.length === 0) this.state.clear();
    else this.state.update(sessions.map(({ window: w, stateWindow: s }) => [w.start, w.end, s.start, s.end] as const));
  }
}
