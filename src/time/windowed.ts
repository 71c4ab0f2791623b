/** A span of event time, `[start, end)` for tumbling and hopping windows. Milliseconds since the epoch. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** The key of a windowed aggregation's results: the record key and the window it belongs to. */
export class Windowed<K> {
  constructor(
    readonly key: K,
    readonly window: Window,
  ) {}

  /** `[key@start/end]`, as Kafka Streams prints it. */
  toString(): string {
    return `[${String(this.key)}@${this.window.start}/${this.window.end}]`;
  }
}
