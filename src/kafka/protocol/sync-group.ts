import type { SyncGroupRequest, SyncGroupResponse } from '../port.js';
import type { Api } from './api.js';

export const syncGroup: Api<SyncGroupRequest, SyncGroupResponse> = {
  key: 14,
  name: 'SyncGroup',
  minVersion: 3,
  maxVersion: 5,
  flexibleFrom: 4,

  encode(out, version, request) {
    out.writeString(request.groupId);
    out.writeInt32(request.generation);
    out.writeString(request.memberId);
    out.writeNullableString(request.groupInstanceId);
    if (version >= 5) {
      out.writeNullableString(request.protocolType);
      out.writeNullableString(request.protocolName);
    }
    out.writeArray(request.assignments, (assignment) => {
      out.writeString(assignment.memberId);
      out.writeSizedBytes(assignment.assignment);
      out.endStruct();
    });
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    const errorCode = input.readInt16();
    if (version >= 5) {
      input.readNullableString();
      input.readNullableString();
    }
    const assignment = input.readSizedBytes();
    input.endStruct();
    return { errorCode, assignment };
  },
};
