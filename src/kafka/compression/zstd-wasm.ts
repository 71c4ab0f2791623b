/**
 * zstd by `@bokuweb/zstd-wasm`. The package starts asynchronously; its module is started here synchronously, through Emscripten's
 * `instantiateWasm` hook, because a decoder in the record path cannot wait.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MillraceError } from '../../errors.js';
import type { CompressionCodec, PackageLoader } from './codec.js';
import { tooLarge } from './codec.js';

/** The Java client's default. */
const LEVEL = 3;

/** Node's own types leave WebAssembly to the DOM's: this is what is used of it. */
type WasmImports = object;
interface WasmInstance {
  readonly exports: object;
}
interface WasmApi {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: WasmImports) => WasmInstance;
}

/** The part of the wasm module's interface that is used here; pointers are numbers. */
interface ZstdModule {
  instantiateWasm(imports: WasmImports, receive: (instance: WasmInstance) => void): object;
  init(bytes: Uint8Array): void;
  /** Set once the runtime is started. */
  readonly calledRun?: boolean;
  readonly HEAPU8: Uint8Array;
  _malloc(size: number): number;
  _free(pointer: number): void;
  _ZSTD_isError(code: number): number;
  _ZSTD_compressBound(size: number): number;
  _ZSTD_compress(target: number, capacity: number, source: number, size: number, level: number): number;
  _ZSTD_decompress(target: number, capacity: number, source: number, size: number): number;
}

/** ZSTD_error_dstSize_tooSmall, as the negative code that zstd's functions return. */
const TARGET_TOO_SMALL = -70;

export function createZstdWasmCodec(load: PackageLoader): CompressionCodec {
  return wasmCodec(startWasm(load));
}

function startWasm(load: PackageLoader): ZstdModule {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WasmApi };
  const folder = dirname(load.resolve('@bokuweb/zstd-wasm'));
  const code = new WebAssembly.Module(readFileSync(join(folder, 'zstd.wasm')));
  const module = loadPrivateCopy(load, join(folder, 'zstd.js')).Module;
  // A loader without a real cache (jest's) hands out the same module again: starting it twice would swap its memory.
  if (module.calledRun === true) return module;
  module.instantiateWasm = (imports, receive) => {
    const instance = new WebAssembly.Instance(code, imports);
    receive(instance);
    return instance.exports;
  };
  module.init(new Uint8Array());
  return module;
}

/** The application may use the package too; its `init` would swap the memory under a shared module. */
function loadPrivateCopy(load: PackageLoader, path: string): { readonly Module: ZstdModule } {
  const shared = load.cache[path];
  Reflect.deleteProperty(load.cache, path);
  try {
    return load(path) as { Module: ZstdModule };
  } finally {
    if (shared === undefined) Reflect.deleteProperty(load.cache, path);
    else load.cache[path] = shared;
  }
}

function wasmCodec(zstd: ZstdModule): CompressionCodec {
  return {
    compress(bytes) {
      const capacity = zstd._ZSTD_compressBound(bytes.length);
      const result = run(zstd, bytes, capacity, (target, source) => zstd._ZSTD_compress(target, capacity, source, bytes.length, LEVEL));
      if (typeof result === 'number') throw failed('compress', result);
      return result;
    },
    decompress(bytes, maxBytes) {
      // The Java client streams, so its frames do not tell their content's size: guess, and double while it is too small.
      for (let capacity = Math.min(maxBytes, Math.max(64 * 1024, bytes.length * 6)); ; capacity = Math.min(maxBytes, capacity * 2)) {
        const size = capacity;
        const result = run(zstd, bytes, size, (target, source) => zstd._ZSTD_decompress(target, size, source, bytes.length));
        if (typeof result !== 'number') return result;
        if (result !== TARGET_TOO_SMALL) throw failed('decompress', result);
        if (capacity === maxBytes) throw tooLarge(maxBytes);
      }
    },
  };
}

/** Copies `bytes` in, calls, copies the result out; a number is zstd's error code. */
function run(zstd: ZstdModule, bytes: Buffer, capacity: number, call: (target: number, source: number) => number): Buffer | number {
  const source = zstd._malloc(bytes.length);
  const target = zstd._malloc(capacity);
  try {
    if (source === 0 || target === 0) throw new MillraceError('MILL_CORRUPT_BATCH', `zstd has no memory for ${capacity} bytes.`);
    zstd.HEAPU8.set(bytes, source);
    const result = call(target, source);
    if (zstd._ZSTD_isError(result) !== 0) return result | 0;
    return Buffer.from(zstd.HEAPU8.subarray(target, target + result));
  } finally {
    zstd._free(target);
    zstd._free(source);
  }
}

function failed(what: string, code: number): MillraceError {
  return new MillraceError('MILL_CORRUPT_BATCH', `zstd failed to ${what} (its error ${-code}).`);
}
