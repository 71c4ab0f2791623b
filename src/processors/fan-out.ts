/**
 * Hands each record to several children, one after the other: the first one's whole sub-tree is done before the second one gets it.
 * The task wires it where a node has more than one child.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Downstream } from './operator.js';

export class FanOut implements Downstream {
  constructor(private readonly children: readonly Downstream[]) {}

  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    return this.processFrom(0, key, value, timestamp);
  }

  private processFrom(first: number, key: unknown, value: unknown, timestamp: number): MaybeAsync {
    for (let index = first; index < this.children.length; index++) {
      const pending = this.children[index]?.process(key, value, timestamp);
      if (pending !== undefined) return this.processRest(pending, index + 1, key, value, timestamp);
    }
  }

  private async processRest(pending: Promise<void>, next: number, key: unknown, value: unknown, timestamp: number): Promise<void> {
    await pending;
    await this.processFrom(next, key, value, timestamp);
  }
}
