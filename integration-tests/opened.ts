/** What a suite has opened so far, to be closed whatever became of the rest: a set-up that fails half way leaves nothing running and hides behind no second error. */
export class Opened {
  private readonly closings: (() => Promise<unknown>)[] = [];

  add<T>(thing: T, close: (thing: T) => Promise<unknown>): T {
    this.closings.push(() => close(thing));
    return thing;
  }

  /** Closes everything, the last first, and throws what failed first. */
  async close(): Promise<void> {
    const faults: unknown[] = [];
    for (const close of this.closings.splice(0).reverse()) await close().catch((error: unknown) => faults.push(error));
    if (faults.length > 0) throw faults[0];
  }
}
