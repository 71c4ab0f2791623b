import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Downstream, UnfinishedWork } from '../processors/operator.js';
import type { WiredTask } from './task-wiring.js';

interface Gate {
  readonly work: UnfinishedWork;
  /** Sends results under the guard of the node. */
  readonly results: Downstream;
}

/** The unfinished records of all asynchronous operators of one task. */
export class UnfinishedRecords {
  private hasBegun = false;

  private constructor(private readonly gates: readonly Gate[]) {}

  /** Null for a task without such operators. */
  static of({ operators, results }: WiredTask): UnfinishedRecords | null {
    const gates = operators.flatMap(({ name, operator: { unfinished } }) => {
      const guarded = results.get(name);
      return unfinished === undefined || guarded === undefined ? [] : [{ work: unfinished, results: guarded }];
    });
    return gates.length === 0 ? null : new UnfinishedRecords(gates);
  }

  get count(): number {
    return this.gates.reduce((total, { work }) => total + work.size, 0);
  }

  get isFull(): boolean {
    return this.gates.some(({ work }) => work.isFull);
  }

  get hasReady(): boolean {
    return this.gates.some(({ work }) => work.ready !== null);
  }

  /** Goes on with what an earlier life of the task has left. */
  begin(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    for (const { work } of this.gates) work.begin();
  }

  /** Sends one result on: that of the last operator in the topology first, so that records leave the task before others come further in. */
  sendReady(): MaybeAsync {
    for (let i = this.gates.length - 1; i >= 0; i--) {
      const { work, results } = this.gates[i] as Gate;
      const { ready } = work;
      if (ready !== null) return results.process(ready.key, ready.value, ready.timestamp);
    }
  }
}
