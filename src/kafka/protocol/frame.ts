/**
 * Frames: size, header and body of a request, header of a response.
 *
 * A request body may carry large byte ranges (record batches): they are not copied into the frame but stand beside it, as
 * `parts` to be written to the socket one after the other.
 */
import type { Api } from './api.js';
import { WireReader } from './wire-reader.js';
import { WireWriter } from './wire-writer.js';

export interface Frame {
  readonly parts: readonly Uint8Array[];
}

/** A writer that keeps referenced bytes beside the rest. */
export class FrameWriter extends WireWriter {
  private readonly parts: Uint8Array[] = [];
  private sealedBytes = 0;

  override writeByReference(bytes: Uint8Array): void {
    this.seal();
    this.parts.push(bytes);
    this.sealedBytes += bytes.length;
  }

  /** Everything written, with the size in front. The writer is done after this. */
  finish(): Frame {
    this.seal();
    const size = Buffer.allocUnsafe(4);
    size.writeInt32BE(this.sealedBytes);
    return { parts: [size, ...this.parts] };
  }

  private seal(): void {
    if (this.length === 0) return;
    this.parts.push(this.copy());
    this.sealedBytes += this.length;
    this.reset();
  }
}

export function encodeRequest<Request>(
  api: Api<Request, unknown>,
  version: number,
  correlationId: number,
  clientId: string,
  request: Request,
): Frame {
  const flexible = version >= api.flexibleFrom;
  const out = new FrameWriter(flexible, 512);
  out.writeInt16(api.key);
  out.writeInt16(version);
  out.writeInt32(correlationId);
  // The client id keeps its two-byte length even in the flexible header.
  out.writeInt16(Buffer.byteLength(clientId));
  out.writeUtf8(clientId);
  out.endStruct();
  api.encode(out, version, request);
  return out.finish();
}

/** `payload` starts after the correlation id. */
export function decodeResponse<Response>(api: Api<never, Response>, version: number, payload: Buffer): Response {
  const input = new WireReader(payload, version >= api.flexibleFrom);
  if (api.plainResponseHeader !== true) input.endStruct();
  return api.decode(input, version);
}
