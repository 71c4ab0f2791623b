/**
 * Base of the operators whose engine takes notes of results while it is at work: windows, interval joins, temporal joins.
 *
 * Invariant: a call leaves nothing in the outbox, not even one that fails. The app may go on behind an error, and then the next commit is that of the input of those results: what
 * was still in memory would be lost with the process.
 */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import type { Timer } from '../timers/timer-queue.js';
import { KeyedOperator } from './keyed-operator.js';
import { Outbox } from './outbox.js';

export abstract class OutboxOperator<K, V> extends KeyedOperator<K, V> {
  protected readonly outbox = new Outbox();

  override flush(): MaybeAsync {
    this.outbox.mustBeEmpty(this.context.nodeName);
    return super.flush();
  }

  protected onRecord(key: K, value: V, timestamp: number): MaybeAsync {
    try {
      this.take(key, value, timestamp);
    } catch (error) {
      return this.outbox.sendAndFail(error);
    }
    return this.outbox.send();
  }

  protected onEventTimer(timer: Timer): MaybeAsync {
    try {
      this.takeEventTimer(timer);
    } catch (error) {
      return this.outbox.sendAndFail(error);
    }
    return this.outbox.send();
  }

  protected onProcessingTimer(timer: Timer): MaybeAsync {
    try {
      this.takeProcessingTimer(timer);
    } catch (error) {
      return this.outbox.sendAndFail(error);
    }
    return this.outbox.send();
  }

  /** Each may throw in the middle: what it has noted by then is sent all the same. */
  protected abstract take(key: K, value: V, timestamp: number): void;
  protected abstract takeEventTimer(timer: Timer): void;
  protected takeProcessingTimer(_timer: Timer): void {
    // It sets none.
  }
}
