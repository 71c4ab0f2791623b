/**
 * Which call begins next and which result leaves next: the rules of concurrency, bounds and order of one asynchronous operator, without the calls themselves.
 *
 * A record is unfinished from `add` to `take`. With order `perKey` one record of a key is between `next` and `sent` at most; a queue of the others waits behind it.
 * Results leave in order of arrival (`arrival`), or in the order in which their calls ended. Of the records that have one question when their turn comes, only the first is called
 * for; the others have neither a call nor a place among the `concurrency`, and end with it.
 */
import type { CallRules } from './async-options.js';

/** What the rules look at in a call. */
export interface QueuedCall {
  /** What tells keys apart in a Map; null for a record without a key. */
  readonly identity: unknown;
  /** Records with the same question share one call, as something that a Map can tell apart; null: the record has a call of its own. */
  readonly question: unknown;
  readonly bytes: number;
  hasEnded: boolean;
}

export class CallQueue<C extends QueuedCall> {
  private readonly unfinished = new Set<C>();
  private readonly waiting = new Set<C>();
  /** Ended, in the order of their ends; not used with order `arrival`. */
  private readonly ended = new Set<C>();
  /** Behind the record of the key that has its turn; only with order `perKey`. */
  private readonly behind = new Map<unknown, C[]>();
  /** By question: the records that wait for the call of another one. */
  private readonly sharing = new Map<unknown, C[]>();
  private running = 0;
  private bytes = 0;

  constructor(private readonly rules: Pick<CallRules, 'concurrency' | 'maxRecords' | 'maxBytes' | 'order'>) {}

  get size(): number {
    return this.unfinished.size;
  }

  get isFull(): boolean {
    return this.unfinished.size >= this.rules.maxRecords || this.bytes >= this.rules.maxBytes;
  }

  /** The unfinished record that came first. */
  get oldest(): C | null {
    return first(this.unfinished);
  }

  add(call: C): void {
    this.unfinished.add(call);
    this.bytes += call.bytes;
    if (this.rules.order === 'perKey' && call.identity !== null) {
      const behind = this.behind.get(call.identity);
      if (behind !== undefined) {
        behind.push(call);
        return;
      }
      this.behind.set(call.identity, []);
    }
    this.wait(call);
  }

  /** The call to begin now, which then runs until `end`; null when none may. */
  next(): C | null {
    if (this.running >= this.rules.concurrency) return null;
    const call = first(this.waiting);
    if (call === null) return null;
    this.waiting.delete(call);
    this.running++;
    return call;
  }

  /** Gives all records that the call was for. */
  end(call: C): readonly C[] {
    this.running--;
    const calls = [call, ...(this.sharing.get(call.question) ?? [])];
    this.sharing.delete(call.question);
    for (const each of calls) {
      each.hasEnded = true;
      if (this.rules.order !== 'arrival') this.ended.add(each);
    }
    return calls;
  }

  /** The call whose result may leave now; null when there is none. */
  get ready(): C | null {
    if (this.rules.order !== 'arrival') return first(this.ended);
    const { oldest } = this;
    return oldest?.hasEnded === true ? oldest : null;
  }

  /** Its result leaves now. */
  take(call: C): void {
    this.unfinished.delete(call);
    this.ended.delete(call);
    this.bytes -= call.bytes;
  }

  /** Its result has left: the next record of its key has its turn. */
  sent({ identity }: C): void {
    const behind = this.behind.get(identity);
    if (behind === undefined) return;
    const next = behind.shift();
    if (next === undefined) this.behind.delete(identity);
    else this.wait(next);
  }

  /** All unfinished records, in order of arrival. */
  [Symbol.iterator](): IterableIterator<C> {
    return this.unfinished.values();
  }

  private wait(call: C): void {
    const { question } = call;
    if (question === null) {
      this.waiting.add(call);
      return;
    }
    const sharing = this.sharing.get(question);
    if (sharing !== undefined) {
      sharing.push(call);
      return;
    }
    this.sharing.set(question, []);
    this.waiting.add(call);
  }
}

function first<T>(set: ReadonlySet<T>): T | null {
  for (const item of set) return item;
  return null;
}
