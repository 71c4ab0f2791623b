import { inPlaceSerde } from '../../serdes/in-place-serde.js';
import { serdeOverAll } from '../../serdes/late-serde.js';
import type { CompiledSerde, Serde } from '../../serdes/serde.js';
import { LookupRow } from './lookup-row.js';

/** `<asked at, 8 bytes; 1 and the row, or 0>` */
export function lookupRowSerde<VL>(rowSerde: Serde<VL>): Serde<LookupRow<VL>> {
  const name = `lookup(${rowSerde.name})`;
  const inner = [{ serde: rowSerde as Serde<unknown> as Serde<never>, part: 'value' as const }];
  return serdeOverAll(name, inner, ([serde]) => compiledRowSerde(name, serde as unknown as CompiledSerde<VL>));
}

function compiledRowSerde<VL>(name: string, serde: CompiledSerde<VL>): Serde<LookupRow<VL>> {
  return inPlaceSerde<LookupRow<VL>>({
    name,
    encode: ({ bytes, askedAt }, out) => {
      out.writeDouble(askedAt);
      out.writeByte(bytes === null ? 0 : 1);
      if (bytes !== null) out.writeBytes(bytes);
    },
    decode: (buffer, start, end) => {
      const bytes = buffer[start + 8] === 0 ? null : Buffer.from(buffer.subarray(start + 9, end));
      return new LookupRow(bytes, buffer.readDoubleBE(start), serde);
    },
  });
}
