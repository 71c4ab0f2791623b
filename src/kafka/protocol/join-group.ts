import type { JoinGroupRequest, JoinGroupResponse } from '../port.js';
import type { Api } from './api.js';

/** Version 9 lets the broker tell a returning static leader to skip the assignment: not used, an assignment is always computed. */
export const joinGroup: Api<JoinGroupRequest, JoinGroupResponse> = {
  key: 11,
  name: 'JoinGroup',
  minVersion: 5,
  maxVersion: 8,
  flexibleFrom: 6,

  encode(out, version, request) {
    out.writeString(request.groupId);
    out.writeInt32(request.sessionTimeoutMs);
    out.writeInt32(request.rebalanceTimeoutMs);
    out.writeString(request.memberId);
    out.writeNullableString(request.groupInstanceId);
    out.writeString(request.protocolType);
    out.writeArray(request.protocols, (protocol) => {
      out.writeString(protocol.name);
      out.writeSizedBytes(protocol.metadata);
      out.endStruct();
    });
    if (version >= 8) out.writeNullableString(null);
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    const errorCode = input.readInt16();
    const generation = input.readInt32();
    if (version >= 7) input.readNullableString();
    const protocolName = input.readNullableString();
    const leader = input.readString();
    const memberId = input.readString();
    const members = input.readArray(() => {
      const member = { memberId: input.readString(), groupInstanceId: input.readNullableString(), metadata: input.readSizedBytes() };
      input.endStruct();
      return member;
    });
    input.endStruct();
    return { errorCode, generation, protocolName: protocolName === '' ? null : protocolName, leader, memberId, members };
  },
};
