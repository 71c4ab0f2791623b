import type { CoordinatorKind } from '../port.js';
import type { Api } from './api.js';
import type { WireReader } from './wire-reader.js';

export interface FindCoordinatorResponse {
  readonly errorCode: number;
  readonly errorMessage: string | null;
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
}

export const findCoordinator: Api<{ readonly kind: CoordinatorKind; readonly key: string }, FindCoordinatorResponse> = {
  key: 10,
  name: 'FindCoordinator',
  minVersion: 2,
  maxVersion: 4,
  flexibleFrom: 3,

  encode(out, version, request) {
    const kind = request.kind === 'transaction' ? 1 : 0;
    if (version <= 3) out.writeString(request.key);
    out.writeInt8(kind);
    if (version >= 4) out.writeArray([request.key], (key) => out.writeString(key));
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    if (version <= 3) {
      const errorCode = input.readInt16();
      const errorMessage = input.readNullableString();
      const node = readNode(input);
      input.endStruct();
      return { errorCode, errorMessage, ...node };
    }
    const found = input.readArray((): FindCoordinatorResponse => {
      input.readString();
      const node = readNode(input);
      const errorCode = input.readInt16();
      const errorMessage = input.readNullableString();
      input.endStruct();
      return { errorCode, errorMessage, ...node };
    });
    input.endStruct();
    const first = found[0];
    if (first === undefined) throw new RangeError('FindCoordinator answered for no key');
    return first;
  },
};

function readNode(input: WireReader): { nodeId: number; host: string; port: number } {
  return { nodeId: input.readInt32(), host: input.readString(), port: input.readInt32() };
}
