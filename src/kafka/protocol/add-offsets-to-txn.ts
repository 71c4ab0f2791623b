import type { ProducerIdentity } from '../port.js';
import type { Api } from './api.js';
import { writeProducerIdentity } from './producer-identity.js';

export const addOffsetsToTxn: Api<ProducerIdentity & { readonly groupId: string }, { readonly errorCode: number }> = {
  key: 25,
  name: 'AddOffsetsToTxn',
  minVersion: 1,
  maxVersion: 4,
  flexibleFrom: 3,

  encode(out, _version, request) {
    writeProducerIdentity(out, request);
    out.writeString(request.groupId);
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const errorCode = input.readInt16();
    input.endStruct();
    return { errorCode };
  },
};
