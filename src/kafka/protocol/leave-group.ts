import type { Api } from './api.js';

export interface LeaveGroupRequest {
  readonly groupId: string;
  readonly memberId: string;
  readonly groupInstanceId: string | null;
}

/** One member leaves; its own error stands for the answer when the request as a whole had none. */
export const leaveGroup: Api<LeaveGroupRequest, { readonly errorCode: number }> = {
  key: 13,
  name: 'LeaveGroup',
  minVersion: 3,
  maxVersion: 5,
  flexibleFrom: 4,

  encode(out, version, request) {
    out.writeString(request.groupId);
    out.writeArray([request], (member) => {
      out.writeString(member.memberId);
      out.writeNullableString(member.groupInstanceId);
      if (version >= 5) out.writeNullableString(null);
      out.endStruct();
    });
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const errorCode = input.readInt16();
    const memberErrors = input.readArray(() => {
      input.readString();
      input.readNullableString();
      const memberError = input.readInt16();
      input.endStruct();
      return memberError;
    });
    input.endStruct();
    return { errorCode: errorCode !== 0 ? errorCode : (memberErrors.find((code) => code !== 0) ?? 0) };
  },
};
