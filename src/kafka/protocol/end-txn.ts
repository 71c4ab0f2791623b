import type { EndTxnResponse, ProducerIdentity } from '../port.js';
import type { Api } from './api.js';
import { writeProducerIdentity } from './producer-identity.js';

/** From version 5 the answer carries the identity of the next transaction (KIP-890, transaction.version 2). */
export const END_TXN_BUMPS_EPOCH = 5;

export const endTxn: Api<ProducerIdentity & { readonly commit: boolean }, EndTxnResponse> = {
  key: 26,
  name: 'EndTxn',
  minVersion: 1,
  maxVersion: END_TXN_BUMPS_EPOCH,
  flexibleFrom: 3,

  encode(out, _version, request) {
    writeProducerIdentity(out, request);
    out.writeBoolean(request.commit);
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    const errorCode = input.readInt16();
    const identity = version >= END_TXN_BUMPS_EPOCH ? { producerId: input.readBigInt64(), producerEpoch: input.readInt16() } : null;
    input.endStruct();
    return { errorCode, next: identity !== null && errorCode === 0 && identity.producerId >= 0n ? identity : null };
  },
};
