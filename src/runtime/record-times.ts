/** What the changelog records of plain stores have for a timestamp: the time of the record that their task is at; before there is a task, or a record, the wall clock's. */
export class RecordTimes {
  private source: () => number = noRecord;

  /** @param wallClock ms since the epoch */
  constructor(private readonly wallClock: () => number) {}

  /** Times come from there from now on, where they are not below 0. */
  takeFrom(source: () => number): void {
    this.source = source;
  }

  readonly now = (): number => {
    const timestamp = this.source();
    return timestamp < 0 ? this.wallClock() : timestamp;
  };
}

const noRecord = (): number => -1;
