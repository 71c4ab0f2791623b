/** Time as the group member needs it: monotonic, so that a step of the wall clock neither expires a session nor stops the heartbeats. */
export interface GroupClock {
  /** Milliseconds since some fixed moment. */
  now(): number;
  /** Runs once after `delayMs`; the result cancels it. */
  setTimer(run: () => void, delayMs: number): () => void;
}

export const systemGroupClock: GroupClock = {
  now: () => performance.now(),
  setTimer: (run, delayMs) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};
