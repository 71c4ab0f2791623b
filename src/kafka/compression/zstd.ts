/** Kafka's zstd: zstd frames. Node reads and writes them from 22.15 on; before, the package `@bokuweb/zstd-wasm` does. */
import * as zlib from 'node:zlib';
import type { CompressionCodec, PackageLoader } from './codec.js';
import { tooLarge } from './codec.js';
import { createZstdWasmCodec } from './zstd-wasm.js';

export function createZstdCodec(load: PackageLoader, node: Partial<NodeZstd> = zlib as Partial<NodeZstd>): CompressionCodec {
  const { zstdCompressSync, zstdDecompressSync } = node;
  if (zstdCompressSync !== undefined && zstdDecompressSync !== undefined) return nodeCodec({ zstdCompressSync, zstdDecompressSync });
  return createZstdWasmCodec(load);
}

interface NodeZstd {
  zstdCompressSync(bytes: Buffer): Buffer;
  zstdDecompressSync(bytes: Buffer, options: { maxOutputLength: number }): Buffer;
}

function nodeCodec(node: NodeZstd): CompressionCodec {
  return {
    compress: (bytes) => node.zstdCompressSync(bytes),
    decompress(bytes, maxBytes) {
      try {
        return node.zstdDecompressSync(bytes, { maxOutputLength: maxBytes });
      } catch (error) {
        throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(maxBytes) : error;
      }
    },
  };
}
