/** What a lookup found, as its cache keeps it: also that there is no such row. */
import { serdeOverAll } from '../../serdes/late-serde.js';
import { inPlaceSerde } from '../../serdes/in-place-serde.js';
import type { CompiledSerde, Serde } from '../../serdes/serde.js';

export interface LookupRow<VL> {
  /** null: there is none. */
  readonly row: VL | null;
  /** When it was asked for, ms of the wall clock. */
  readonly askedAt: number;
}

/** `<asked at, 8 bytes; 1 and the row, or 0>` */
export function lookupRowSerde<VL>(rowSerde: Serde<VL>): Serde<LookupRow<VL>> {
  const name = `lookup(${rowSerde.name})`;
  const inner = [{ serde: rowSerde as Serde<unknown> as Serde<never>, part: 'value' as const }];
  return serdeOverAll(name, inner, ([serde]) => compiledRowSerde(name, serde as unknown as CompiledSerde<VL>));
}

function compiledRowSerde<VL>(name: string, serde: CompiledSerde<VL>): Serde<LookupRow<VL>> {
  return inPlaceSerde<LookupRow<VL>>({
    name,
    encode: ({ row, askedAt }, out) => {
      out.writeDouble(askedAt);
      out.writeByte(row === null ? 0 : 1);
      if (row !== null) serde.encode(row, out);
    },
    decode: (buffer, start, end) => ({
      askedAt: buffer.readDoubleBE(start),
      row: buffer[start + 8] === 0 ? null : serde.decodeSync(buffer, start + 9, end),
    }),
  });
}
