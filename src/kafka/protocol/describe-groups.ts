import type { Api } from './api.js';

export interface DescribedGroup {
  readonly groupId: string;
  readonly errorCode: number;
  readonly state: string;
  readonly members: readonly { readonly memberId: string; readonly metadata: Buffer; readonly assignment: Buffer }[];
}

/** Sent to the coordinator of the groups. */
export const describeGroups: Api<{ readonly groupIds: readonly string[] }, readonly DescribedGroup[]> = {
  key: 15,
  name: 'DescribeGroups',
  minVersion: 5,
  maxVersion: 5,
  flexibleFrom: 5,

  encode(out, _version, request) {
    out.writeArray(request.groupIds, (groupId) => out.writeString(groupId));
    out.writeBoolean(false);
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const groups = input.readArray((): DescribedGroup => {
      const errorCode = input.readInt16();
      const groupId = input.readString();
      const state = input.readString();
      input.readString();
      input.readString();
      const members = input.readArray(() => {
        const memberId = input.readString();
        input.readNullableString();
        input.readString();
        input.readString();
        const member = { memberId, metadata: input.readSizedBytes(), assignment: input.readSizedBytes() };
        input.endStruct();
        return member;
      });
      input.readInt32();
      input.endStruct();
      return { groupId, errorCode, state, members };
    });
    input.endStruct();
    return groups;
  },
};
