/** Lets the loop sleep until somebody has news for it or a time has come. */
export class Wakeup {
  private pending = false;
  private wake: (() => void) | null = null;

  notify(): void {
    this.pending = true;
    this.wake?.();
  }

  /** Resolves at the next `notify` (at once when there was one since the last wait) or after `ms`. */
  wait(ms: number): Promise<void> {
    if (this.pending) {
      this.pending = false;
      return yieldToIo();
    }
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.wake = null;
        this.pending = false;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.wake = done;
    });
  }
}

/** Gives sockets and timers their turn. */
export function yieldToIo(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
