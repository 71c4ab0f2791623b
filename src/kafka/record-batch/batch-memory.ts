/**
 * Buffers that record batches are built in, kept for the next ones. One pool may serve the builders of all output partitions
 * of a thread, so that what is kept is bounded for all of them together.
 */
const FIRST_BYTES = 16 * 1024;

export class BatchMemory {
  private readonly free: Buffer[] = [];
  private keptBytes = 0;

  /** @param maxBytes most bytes kept for reuse; default 32 MiB */
  constructor(private readonly maxBytes = 32 * 1024 * 1024) {}

  acquire(): Buffer {
    const buffer = this.free.pop();
    if (buffer === undefined) return Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.keptBytes -= buffer.length;
    return buffer;
  }

  /** Takes back a buffer that nothing reads any more. */
  release(buffer: Buffer): void {
    if (this.keptBytes + buffer.length > this.maxBytes) return;
    this.keptBytes += buffer.length;
    this.free.push(buffer);
  }
}
