/**
 * Where something failed: a call of a node within its input record; outside of records (`topic` null) within the firing of a wall-clock timer, or, without one, within its
 * epoch.
 */
export interface FailurePlace {
  readonly taskId: string;
  readonly node: string;
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
  /** The wall-clock timer that fired; null for everything else. */
  readonly timer: string | null;
  /** Which call of the node it was, from 0. */
  readonly call: number;
}

/** What has become of what failed more often than it may be tried. */
export type GivenUp = 'continue' | 'deadLetter';

interface Entry {
  readonly place: FailurePlace;
  count: number;
  givenUp: GivenUp | null;
  /** `tried`: to be tried again. `decided`: its fate is part of the open epoch. `sealed`: of the epoch on its way to being committed. */
  state: 'tried' | 'decided' | 'sealed';
  /** The input has gone past it: only an asynchronous call may still be about it. */
  isPassed: boolean;
}

/**
 * How often records have failed that are tried again from the last commit, and which were given up: their tasks are closed meanwhile, so the thread keeps it.
 *
 * Invariant: an entry stays until the epoch that decides its fate is committed. If it ended earlier, the return that the next bad record of the epoch causes would begin
 * its tries anew, and tries would multiply. What failed in a wall-clock timer is tried again when the timer fires next, however many epochs come before: its entry ends when the
 * timer has run through. Bounded: when it is full nothing more is tried again from the last commit until something is committed.
 */
export class RetryLedger {
  private readonly tasks = new Map<string, Map<string, Entry>>();
  private size = 0;

  constructor(private readonly mostEntries = 10_000) {}

  count(place: FailurePlace): number {
    return this.find(place)?.count ?? 0;
  }

  /** What was decided about it in an epoch that was lost before its commit; null: nothing. */
  givenUp(place: FailurePlace): GivenUp | null {
    return this.find(place)?.givenUp ?? null;
  }

  /** It is tried again from the last commit. False: there is no room to remember that, so it must not be. */
  failed(place: FailurePlace, count: number): boolean {
    const entry = this.find(place) ?? this.add(place);
    if (entry === null) return false;
    entry.count = count;
    return true;
  }

  /** It has used up its tries. True when it went back to the last commit for one of them. */
  giveUp(place: FailurePlace, answer: GivenUp): boolean {
    const known = this.find(place);
    const entry = known ?? this.add(place);
    if (entry === null) return false;
    entry.givenUp = answer;
    entry.state = 'decided';
    return known !== null && known.count > 0;
  }

  /** A task begins at its last commit: what was decided since then is to be decided again, the same way. */
  opened(taskId: string): void {
    for (const entry of this.entriesOf(taskId)) entry.state = 'tried';
  }

  /**
   * A barrier of the task.
   *
   * @param isPassed whether the input has gone past the record
   * @param isAllDone no call of an asynchronous operator is unfinished
   */
  barrier(taskId: string, isPassed: (topic: string, partition: number, offset: number) => boolean, isAllDone: boolean): void {
    for (const entry of this.entriesOf(taskId)) {
      const { topic, partition, offset, timer } = entry.place;
      entry.isPassed = topic === null || isPassed(topic, partition, offset);
      if (entry.state === 'decided' || (timer === null && (topic === null || (entry.isPassed && isAllDone)))) entry.state = 'sealed';
    }
  }

  /** A wall-clock timer has run through: what failed in it before is over, if the epoch is committed. */
  timerEnded(taskId: string, timer: string): void {
    if (this.size === 0) return;
    for (const entry of this.entriesOf(taskId)) if (entry.place.timer === timer && entry.state === 'tried') entry.state = 'decided';
  }

  /** The epoch of the last barrier was committed. */
  committed(): void {
    for (const [taskId, entries] of this.tasks) {
      for (const [id, { state }] of entries) if (state === 'sealed') this.drop(entries, id);
      if (entries.size === 0) this.tasks.delete(taskId);
    }
  }

  /** The thread has given the task up. */
  left(taskId: string): void {
    this.size -= this.tasks.get(taskId)?.size ?? 0;
    this.tasks.delete(taskId);
  }

  private find(place: FailurePlace): Entry | null {
    return this.tasks.get(place.taskId)?.get(idOf(place)) ?? null;
  }

  private entriesOf(taskId: string): Iterable<Entry> {
    return this.tasks.get(taskId)?.values() ?? [];
  }

  private add(place: FailurePlace): Entry | null {
    if (this.size >= this.mostEntries && !this.makeRoom()) return null;
    let entries = this.tasks.get(place.taskId);
    if (entries === undefined) {
      entries = new Map();
      this.tasks.set(place.taskId, entries);
    }
    const entry: Entry = { place, count: 0, givenUp: null, state: 'tried', isPassed: false };
    entries.set(idOf(place), entry);
    this.size++;
    return entry;
  }

  /** Forgets what most likely went well long ago, behind asynchronous calls that never pause. */
  private makeRoom(): boolean {
    for (const entries of this.tasks.values()) {
      for (const [id, { state, isPassed }] of entries) {
        if (state !== 'tried' || !isPassed) continue;
        this.drop(entries, id);
        return true;
      }
    }
    return false;
  }

  private drop(entries: Map<string, Entry>, id: string): void {
    if (entries.delete(id)) this.size--;
  }
}

function idOf({ node, topic, partition, offset, timer, call }: FailurePlace): string {
  if (topic === null) return timer === null ? `${node} #${call}` : `${node} #${call} in ${timer}`;
  return `${node} #${call} ${topic}-${partition}@${offset}`;
}
