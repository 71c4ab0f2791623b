import type { GroupMemberIdentity } from '../port.js';
import type { Api } from './api.js';

export const heartbeat: Api<GroupMemberIdentity, { readonly errorCode: number }> = {
  key: 12,
  name: 'Heartbeat',
  minVersion: 3,
  maxVersion: 4,
  flexibleFrom: 4,

  encode(out, _version, request) {
    out.writeString(request.groupId);
    out.writeInt32(request.generation);
    out.writeString(request.memberId);
    out.writeNullableString(request.groupInstanceId);
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const errorCode = input.readInt16();
    input.endStruct();
    return { errorCode };
  },
};
