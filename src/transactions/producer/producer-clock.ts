/** Time as the producer's shell sees it, so that a test or a simulation can hold it. */
export interface ProducerClock {
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Calls `fire` after `ms`; the returned function cancels it. */
  after(ms: number, fire: () => void): () => void;
}

export const systemClock: ProducerClock = {
  now: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};
