/**
 * What comes of `work`, unless it takes longer than `ms` or `signal` is aborted before: then a rejection at once, and `work` goes on unheard.
 *
 * kafkajs waits for a listener that accepts a connection and says nothing with timeouts of its own, and nobody can end that wait from outside.
 */
export function inTime<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const giveUp = (reason: unknown): void => {
      settled();
      reject(reason instanceof Error ? reason : new Error(String(reason)));
    };
    const onAbort = (): void => giveUp(signal.reason);
    const timer = setTimeout(() => giveUp(new Error(`it was not open within ${ms} ms`)), ms);
    const settled = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort);
    work.then((result) => {
      settled();
      resolve(result);
    }, giveUp);
    if (signal.aborted) onAbort();
  });
}
