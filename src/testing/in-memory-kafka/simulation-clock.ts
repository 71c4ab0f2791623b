/** Time as the in-memory cluster and its network see it: the machine's, or one that a simulation moves. */
export interface SimulationClock {
  /** Wall clock, ms. */
  now(): number;
  /** Runs once after `delayMs`; the result cancels it. */
  setTimer(run: () => void, delayMs: number): () => void;
}

export const realClock: SimulationClock = {
  now: () => Date.now(),
  setTimer(run, delayMs) {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
