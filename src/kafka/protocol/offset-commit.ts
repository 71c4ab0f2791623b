import type { OffsetCommitRequest, PartitionResult } from '../port.js';
import type { Api } from './api.js';
import { writeCommittedOffsets } from './committed-offsets.js';
import { readPartitionResults } from './partition-results.js';

/** Version 9 is the last with topic names. */
export const offsetCommit: Api<OffsetCommitRequest, readonly PartitionResult[]> = {
  key: 8,
  name: 'OffsetCommit',
  minVersion: 7,
  maxVersion: 9,
  flexibleFrom: 8,

  encode(out, _version, request) {
    out.writeString(request.groupId);
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
