import { describe, expect, it } from '@jest/globals';
import { CallAttempts, type CallOutcome, type CallPort } from '../../../src/processors/async/call-attempts.js';

/** Time in the test's hand: what is to be run after how long. */
class HeldTime implements CallPort {
  readonly timers: { readonly ms: number; readonly kind: 'pause' | 'timeout'; readonly run: () => void }[] = [];
  readonly counted: string[] = [];

  pause(ms: number, run: () => void) {
    return this.after('pause', ms, run);
  }

  timeout(ms: number, run: () => void) {
    return this.after('timeout', ms, run);
  }

  random(): number {
    return 0.5;
  }

  wake(): void {
    // Nobody sleeps.
  }

  count(what: string): void {
    this.counted.push(what);
  }

  /** Runs the one timer there is. */
  fire(): void {
    const [timer] = this.timers.splice(0);
    timer?.run();
  }

  private after(kind: 'pause' | 'timeout', ms: number, run: () => void) {
    const timer = { kind, ms, run };
    this.timers.push(timer);
    return {
      cancel: () => {
        const at = this.timers.indexOf(timer);
        if (at >= 0) this.timers.splice(at, 1);
      },
    };
  }
}

const rules = { timeout: 1000, attempts: 3, backoff: 100, maxBackoff: 150, retryWhen: () => true };

function begin(call: (signal: AbortSignal, attempt: number) => string | PromiseLike<string>, changes: Partial<typeof rules> = {}) {
  const port = new HeldTime();
  const outcomes: CallOutcome<string>[] = [];
  const attempts = new CallAttempts<string>({ rules: { ...rules, ...changes }, port, call, done: (outcome) => outcomes.push(outcome) });
  attempts.begin();
  return { port, outcomes, attempts };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the calls of one record', () => {
  it('end with the first result, and leave no timer behind', async () => {
    const { port, outcomes } = begin(async () => 'done');
    expect(port.timers).toMatchObject([{ kind: 'timeout', ms: 1000 }]);
    await turn();
    expect(outcomes).toEqual([{ kind: 'result', result: 'done' }]);
    expect(port.timers).toEqual([]);
  });

  it('pause longer after each failure, up to the bound, and end with the last error', async () => {
    const { port, outcomes } = begin((_signal, attempt) => {
      throw new Error(`no ${attempt}`);
    });
    expect(port.timers).toMatchObject([{ kind: 'pause', ms: 100 }]);
    port.fire();
    expect(port.timers).toMatchObject([{ kind: 'pause', ms: 150 }]);
    port.fire();
    expect(outcomes).toMatchObject([{ kind: 'error', error: { message: 'no 3' } }]);
    expect(port.counted).toEqual(['call', 'retry', 'retry', 'end']);
  });

  it('ignore what a call gives after its timeout', async () => {
    const results: ((value: string) => void)[] = [];
    const { port, outcomes } = begin(() => new Promise((resolve) => results.push(resolve)));
    port.fire();
    expect(port.counted).toEqual(['call', 'timeout']);
    port.fire();
    results[0]?.('too late');
    await turn();
    expect(outcomes).toEqual([]);
    results[1]?.('in time');
    await turn();
    expect(outcomes).toEqual([{ kind: 'result', result: 'in time' }]);
  });

  it('say nothing more once they are abandoned, and their signal tells the function', async () => {
    const seen: AbortSignal[] = [];
    const { port, outcomes, attempts } = begin(
      (signal) =>
        new Promise((_, reject) => {
          seen.push(signal);
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    );
    attempts.abandon(new Error('the task ends'));
    await turn();
    expect(seen[0]?.reason).toMatchObject({ message: 'the task ends' });
    expect(outcomes).toEqual([]);
    expect(port.timers).toEqual([]);
  });

  it('end when `when` itself fails', () => {
    const { outcomes } = begin(
      () => {
        throw new Error('first');
      },
      {
        retryWhen: () => {
          throw new Error('when failed');
        },
      },
    );
    expect(outcomes).toMatchObject([{ kind: 'error', error: { message: 'when failed' } }]);
  });

  it('have no timer without a timeout', () => {
    const { port } = begin(() => new Promise(() => undefined), { timeout: Infinity });
    expect(port.timers).toEqual([]);
  });
});
