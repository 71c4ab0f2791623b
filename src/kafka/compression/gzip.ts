import { constants, gunzipSync, gzipSync } from 'node:zlib';
import type { CompressionCodec } from './codec.js';
import { tooLarge } from './codec.js';

/** Kafka's gzip: one plain gzip stream. */
export const gzipCodec: CompressionCodec = {
  compress: (bytes) => gzipSync(bytes, { level: constants.Z_DEFAULT_COMPRESSION }),
  decompress(bytes, maxBytes) {
    try {
      return gunzipSync(bytes, { maxOutputLength: maxBytes });
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(maxBytes) : error;
    }
  },
};
