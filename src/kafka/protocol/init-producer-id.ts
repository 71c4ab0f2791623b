import type { InitProducerIdRequest, InitProducerIdResponse } from '../port.js';
import type { Api } from './api.js';

/** Version 3 is the first that lets an owner bump its own epoch (KIP-360). */
export const initProducerId: Api<InitProducerIdRequest, InitProducerIdResponse> = {
  key: 22,
  name: 'InitProducerId',
  minVersion: 3,
  maxVersion: 5,
  flexibleFrom: 2,

  encode(out, _version, request) {
    out.writeNullableString(request.transactionalId);
    out.writeInt32(request.transactionTimeoutMs);
    out.writeBigInt64(request.current?.producerId ?? -1n);
    out.writeInt16(request.current?.producerEpoch ?? -1);
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const response = { errorCode: input.readInt16(), producerId: input.readBigInt64(), producerEpoch: input.readInt16() };
    input.endStruct();
    return response;
  },
};
