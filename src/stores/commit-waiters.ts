import { MillraceError } from '../errors.js';

/** Those who wait for a task's next commit. */
export class CommitWaiters {
  private readonly waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  private isClosed = false;

  constructor(private readonly taskId: string) {}

  /** Resolves with the next commit. Errors: MILL_STORE_CLOSED when the task is closed before. */
  wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) reject(this.closedError());
      else this.waiting.push({ resolve, reject });
    });
  }

  committed(): void {
    for (const { resolve } of this.waiting.splice(0)) resolve();
  }

  close(): void {
    this.isClosed = true;
    for (const { reject } of this.waiting.splice(0)) reject(this.closedError());
  }

  private closedError(): MillraceError {
    return new MillraceError('MILL_STORE_CLOSED', `Task ${this.taskId} is closed`, { details: { task: this.taskId } });
  }
}
