/** Pauses between attempts: exponential, capped, with jitter so that many clients do not come back in step. */
export interface BackoffOptions {
  /** Milliseconds before the first repetition. */
  readonly initialMs: number;
  /** Upper bound in milliseconds. */
  readonly maxMs: number;
}

/**
 * Milliseconds to wait after `failures` failures in a row (1 for the first): `initialMs · 2^(failures − 1)`, at most `maxMs`,
 * times a factor of 0.8–1.2 from `random` (a number in [0, 1)).
 */
export function backoffMs(failures: number, options: BackoffOptions, random: () => number): number {
  const doubled = options.initialMs * 2 ** Math.min(Math.max(failures - 1, 0), 30);
  return Math.min(doubled, options.maxMs) * (0.8 + 0.4 * random());
}

/** Waits `ms` milliseconds; rejects with the signal's reason when it aborts first. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
