import type { PartitionResult, TxnOffsetCommitRequest } from '../port.js';
import type { Api } from './api.js';
import { writeCommittedOffsets } from './committed-offsets.js';
import { readPartitionResults } from './partition-results.js';

/** From version 5 the group is added to the transaction by the commit itself (KIP-890, transaction.version 2). */
export const TXN_OFFSET_COMMIT_IMPLICIT_TRANSACTION = 5;

/** Version 3 is the first that carries member and generation, which fence a zombie (KIP-447); 5 is the last with topic names. */
export const txnOffsetCommit: Api<TxnOffsetCommitRequest, readonly PartitionResult[]> = {
  key: 28,
  name: 'TxnOffsetCommit',
  minVersion: 3,
  maxVersion: TXN_OFFSET_COMMIT_IMPLICIT_TRANSACTION,
  flexibleFrom: 3,

  encode(out, _version, request) {
    out.writeString(request.transactionalId);
    out.writeString(request.groupId);
    out.writeBigInt64(request.producerId);
    out.writeInt16(request.producerEpoch);
    out.writeInt32(request.generation);
    out.writeString(request.memberId);
    out.writeNullableString(request.groupInstanceId);
    writeCommittedOffsets(out, request.offsets);
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const results = readPartitionResults(input);
    input.endStruct();
    return results;
  },
};
