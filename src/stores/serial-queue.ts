/** Runs asynchronous pieces of work one after the other, in the order they were handed in, whether or not earlier ones failed. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Resolves when everything handed in so far has ended. */
  async idle(): Promise<void> {
    await this.last;
  }
}
