import type { Api } from './api.js';

/** Sent to the coordinator of the groups. */
export const deleteGroups: Api<
  { readonly groupIds: readonly string[] },
  readonly { readonly groupId: string; readonly errorCode: number }[]
> = {
  key: 42,
  name: 'DeleteGroups',
  minVersion: 1,
  maxVersion: 2,
  flexibleFrom: 2,

  encode(out, _version, request) {
    out.writeArray(request.groupIds, (groupId) => out.writeString(groupId));
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const groups = input.readArray(() => {
      const group = { groupId: input.readString(), errorCode: input.readInt16() };
      input.endStruct();
      return group;
    });
    input.endStruct();
    return groups;
  },
};
