/**
 * What a lookup found, as its cache keeps it: also that there is no such row.
 *
 * In bytes, read anew for each record that is joined with it: a joiner may change its row, and what it changes nobody else sees, before a restart or after. All records see what the serde
 * gives back, the one too that was asked for.
 */
import { MillraceError } from '../../errors.js';
import { ByteWriter } from '../../bytes/byte-writer.js';
import type { CompiledSerde } from '../../serdes/serde.js';
import { requireSame } from '../carried-value.js';

export class LookupRow<VL> {
  /** Of a row that nobody can change: it is read once. */
  private primitive: VL | undefined = undefined;

  /**
   * @param bytes null: there is no row. An array of its own.
   * @param askedAt when it was asked for, ms of the wall clock
   */
  constructor(
    readonly bytes: Buffer | null,
    readonly askedAt: number,
    private readonly serde: CompiledSerde<VL>,
  ) {}

  get isMissing(): boolean {
    return this.bytes === null;
  }

  /** A row of the caller's own; null: there is none. */
  get row(): VL | null {
    if (this.primitive !== undefined) return this.primitive;
    if (this.bytes === null) return null;
    const row = this.serde.decodeSync(this.bytes, 0, this.bytes.length);
    if (typeof row !== 'object' && typeof row !== 'function') this.primitive = row;
    return row;
  }

  /** For those who look at the cache's store from outside. */
  toJSON(): { readonly row: VL | null; readonly askedAt: number } {
    return { row: this.row, askedAt: this.askedAt };
  }
}

/**
 * @param where names the cache and the key in errors
 * @throws MILL_SERDE when the serde does not take the row, or does not give back what it was given
 */
export function lookupRow<VL>(row: VL | null, askedAt: number, serde: CompiledSerde<VL>, where: () => string): LookupRow<VL> {
  if (row === null) return new LookupRow<VL>(null, askedAt, serde);
  const out = new ByteWriter(256);
  try {
    serde.encode(row, out);
    const kept = new LookupRow(out.copy(), askedAt, serde);
    requireSame(row, kept.row, serde.name);
    return kept;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new MillraceError('MILL_SERDE', `${where()}: ${reason}`, { cause, details: { serde: serde.name } });
  }
}
