import type { AsyncCall } from '../../src/index.js';
import type { SimulatedProcess } from './virtual-world.js';

/** That within one process no call begins while another one for the same record is under way, unless the task that made it has ended. */
export class CallCounts {
  private readonly open = new Map<string, AbortSignal>();
  private readonly doubled: string[] = [];

  /** For the topology of one process. */
  readonly of =
    (process: SimulatedProcess) =>
    (operator: string, { topic, partition, offset, attempt, signal }: AsyncCall): (() => void) => {
      const id = `${process.name} ${operator} ${topic}-${partition}@${offset}`;
      const before = this.open.get(id);
      if (before?.aborted === false) this.doubled.push(`${id}, attempt ${attempt}`);
      this.open.set(id, signal);
      return () => this.open.delete(id);
    };

  faults(): string[] {
    return this.doubled.map((id) => `called for while a call was under way: ${id}`);
  }
}
