/**
 * Milliseconds since the epoch as the wall clock had them when this was called, and from then on by the monotonic clock: whoever sets the machine's clock, forward
 * or back, neither holds up commits nor makes an input look idle that is not. What users and their timers see is the wall clock itself.
 */
export function steadyClock(): () => number {
  const offset = Date.now() - performance.now();
  return () => Math.floor(offset + performance.now());
}
