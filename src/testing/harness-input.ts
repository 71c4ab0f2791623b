/** The one input of a harness: records and watermarks in one topic, in the order in which they were pushed, as they travel between operators in Flink. */
import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { Serde } from '../serdes/serde.js';
import { watermarks, type WatermarkStrategy } from '../time/watermarks/watermark-strategy.js';

export const harnessTopic = 'harness-input';

/** In the place of a value. */
export class PushedWatermark {
  constructor(readonly time: number) {}
}

const [recordTag, watermarkTag] = [0, 1];

export function harnessValueSerde<V>(serde: Serde<V>): Serde<V | PushedWatermark> {
  return {
    name: `harness(${serde.name})`,
    prepare: async (use) => serde.prepare?.(use),
    serialize: (value) => {
      if (!(value instanceof PushedWatermark)) return Buffer.concat([Buffer.from([recordTag]), serde.serialize(value)]);
      const bytes = Buffer.alloc(9, watermarkTag);
      bytes.writeDoubleBE(value.time, 1);
      return bytes;
    },
    deserialize: (bytes) => {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (buffer[0] === watermarkTag) return new PushedWatermark(buffer.readDoubleBE(1));
      const value = serde.deserialize(buffer.subarray(1));
      if (!isPromiseLike(value)) return value;
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `TestHarness: serde ${serde.name} gave a promise; a harness takes serdes that answer at once.`,
      );
    },
  };
}

/** Nothing but what is pushed moves event time. */
export const pushedWatermarks: WatermarkStrategy = watermarks.custom<unknown>(() => ({
  onEvent: (_timestamp, value, output) => {
    if (value instanceof PushedWatermark) output.emit(value.time);
  },
  onPeriodicEmit: () => undefined,
}));
