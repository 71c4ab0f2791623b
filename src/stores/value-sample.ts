import { ByteWriter } from '../bytes/byte-writer.js';
import type { CompiledSerde } from '../serdes/serde.js';

/** One in so many values is serialised where none would be otherwise. */
const every = 64;

/** How long the values of a store are, on the average of those that were seen: for stores whose rows don't know their bytes. */
export class ValueSample {
  private count = 0;
  private bytes = 0;
  private skipped = 0;
  private readonly scratch = new ByteWriter(256);

  /** A value in memory counts twice its bytes. */
  get meanBytes(): number {
    return this.count === 0 ? 0 : (2 * this.bytes) / this.count;
  }

  saw(bytes: number): void {
    this.count++;
    this.bytes += bytes;
  }

  /** Looks at some of the values. A serde that fails is no matter here: nobody asked for its bytes. */
  look(value: unknown, serde: CompiledSerde<unknown>): void {
    if (this.count > 0 && ++this.skipped < every) return;
    this.skipped = 0;
    this.scratch.reset();
    try {
      serde.encode(value, this.scratch);
      this.saw(this.scratch.length);
    } catch {
      this.saw(0);
    }
  }
}
