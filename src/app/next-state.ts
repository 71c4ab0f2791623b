interface StateEvents {
  on(event: 'state', listener: () => void): unknown;
  off(event: 'state', listener: () => void): unknown;
}

/** Resolves when the app's state changes, or after so many milliseconds. */
export function nextState(events: StateEvents, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      events.off('state', done);
      resolve();
    };
    const timer = setTimeout(done, timeoutMs);
    events.on('state', done);
  });
}
