/**
 * Which thread of the process has the folder of which task. A task that moves from one thread to another is opened there only when the first has closed it; those that
 * want it wait in the order they came.
 */
export interface Claim {
  readonly taskId: string;
  /** The thread, in this life of it. */
  readonly holder: number;
  /** Unique for the holder: a thread may open a task again while its last close is under way. */
  readonly ticket: number;
}

interface Waiting {
  readonly claim: Claim;
  readonly settle: (isGranted: boolean) => void;
}

export class TaskClaims {
  private readonly holding = new Map<string, Claim>();
  private readonly queues = new Map<string, Waiting[]>();
  private exclusive: Promise<unknown> = Promise.resolve();
  private exclusiveWorks = 0;

  /** @param onGranted told of every claim that is granted */
  constructor(private readonly onGranted: (claim: Claim) => void = () => undefined) {}

  /** Resolves with true once the folder is the holder's; with false when the claim was given back, or the holder ended, before. */
  claim(claim: Claim): Promise<boolean> {
    const { taskId } = claim;
    return new Promise((settle) => {
      // In line from the first moment on, whatever it waits for: who gives it back meanwhile must find it.
      this.queues.set(taskId, [...(this.queues.get(taskId) ?? []), { claim, settle }]);
      this.grantNext(taskId);
    });
  }

  /** Gives the folder back, or stops waiting for it. */
  release(claim: Claim): void {
    this.drop(claim.taskId, (other) => isSame(other, claim));
  }

  /** The thread is gone, and with it every database that it had open. */
  ended(holder: number): void {
    for (const taskId of new Set([...this.holding.keys(), ...this.queues.keys()])) this.drop(taskId, (claim) => claim.holder === holder);
  }

  /** The thread that has the folder, in its present life; null: none. */
  holderOf(taskId: string): number | null {
    return this.holding.get(taskId)?.holder ?? null;
  }

  /** Does something to folders that are not in use while none changes hands. */
  async alone<T>(work: (inUse: ReadonlySet<string>) => Promise<T>): Promise<T> {
    this.exclusiveWorks++;
    const done = this.exclusive.then(() => work(new Set(this.holding.keys())));
    this.exclusive = done
      .catch(() => undefined)
      .finally(() => {
        this.exclusiveWorks--;
        for (const taskId of [...this.queues.keys()]) this.grantNext(taskId);
      });
    return done;
  }

  private drop(taskId: string, isDropped: (claim: Claim) => boolean): void {
    const queue = this.queues.get(taskId) ?? [];
    const left = queue.filter(({ claim }) => !isDropped(claim));
    for (const { claim, settle } of queue) if (isDropped(claim)) settle(false);
    if (left.length === 0) this.queues.delete(taskId);
    else this.queues.set(taskId, left);
    const held = this.holding.get(taskId);
    if (held !== undefined && isDropped(held)) this.holding.delete(taskId);
    this.grantNext(taskId);
  }

  /** Gives a folder that is free to who is first in line, unless folders are being worked on. */
  private grantNext(taskId: string): void {
    if (this.exclusiveWorks > 0 || this.holding.has(taskId)) return;
    const [next, ...others] = this.queues.get(taskId) ?? [];
    if (next === undefined) return;
    if (others.length === 0) this.queues.delete(taskId);
    else this.queues.set(taskId, others);
    this.holding.set(taskId, next.claim);
    this.onGranted(next.claim);
    next.settle(true);
  }
}

function isSame(a: Claim, b: Claim): boolean {
  return a.holder === b.holder && a.ticket === b.ticket;
}
