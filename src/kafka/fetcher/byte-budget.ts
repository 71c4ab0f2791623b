/**
 * How many bytes the next fetch may bring, so that what is buffered and what is on its way stay within one bound for all brokers.
 *
 * A fetch reserves what its answer may have. Each broker's two lanes reserve no more than the broker's share, so that no idle long poll starves
 * another broker. A single batch larger than the bound is still fetched when nothing else is buffered.
 */
export class ByteBudget {
  private buffered = 0;
  private reserved = 0;

  /** @param maxBuffered may change: what is above a bound that has shrunk is worked off before more is fetched */
  constructor(
    private readonly maxBuffered: () => number,
    private readonly maxPerFetch: number,
    private readonly maxPerPartition: number,
  ) {}

  /** Not enough room left for a usual fetch of one partition. */
  get isFull(): boolean {
    return this.buffered >= this.maxBuffered() - this.maxPerPartition;
  }

  /** Reserves up to `wanted` bytes for a fetch from one of `brokers` brokers; 0: wait until room is given back. */
  reserve(wanted: number, brokers: number): number {
    const share = Math.floor(this.maxBuffered() / (2 * brokers));
    const most = Math.min(this.maxPerFetch, share, wanted);
    const room = this.maxBuffered() - this.buffered - this.reserved;
    if (room < Math.min(most, this.maxPerPartition) && this.buffered > 0) return 0;
    const granted = Math.max(1, Math.min(most, room));
    this.reserved += granted;
    return granted;
  }

  /** The fetch is back, or given up. */
  unreserve(bytes: number): void {
    this.reserved -= bytes;
  }

  unreserveAll(): void {
    this.reserved = 0;
  }

  buffer(bytes: number): void {
    this.buffered += bytes;
  }

  release(bytes: number): void {
    this.buffered -= bytes;
  }
}
