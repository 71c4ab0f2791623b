/**
 * Buffers that record batches are built in, kept for the next ones. One pool may serve the builders of all output partitions
 * of a thread, so that what is kept is bounded for all of them together.
 */
export const FIRST_BYTES = 16 * 1024;
/** Buffers looked at for one that is long enough. */
const TRIES = 16;

export class BatchMemory {
  private readonly free: Buffer[] = [];
  private keptBytes = 0;

  /** @param maxBytes most bytes kept for reuse; default 32 MiB */
  constructor(private readonly maxBytes = 32 * 1024 * 1024) {}

  /** @param bytes how much is about to be written, most likely: a buffer that has to grow is copied */
  acquire(bytes = FIRST_BYTES): Buffer {
    const { free } = this;
    for (let at = free.length - 1, tries = TRIES; at >= 0 && tries > 0; at--, tries--) {
      const buffer = free[at] as Buffer;
      if (buffer.length < bytes) continue;
      free[at] = free[free.length - 1] as Buffer;
      free.length--;
      this.keptBytes -= buffer.length;
      return buffer;
    }
    return Buffer.allocUnsafeSlow(bytes);
  }

  /** Takes back a buffer that nothing reads any more. */
  release(buffer: Buffer): void {
    if (this.keptBytes + buffer.length > this.maxBytes) return;
    this.keptBytes += buffer.length;
    this.free.push(buffer);
  }
}
