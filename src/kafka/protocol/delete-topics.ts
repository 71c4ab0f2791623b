import type { Api } from './api.js';

/** Version 5 is the last that takes plain names. */
export const deleteTopics: Api<
  { readonly topics: readonly string[]; readonly timeoutMs: number },
  readonly { readonly topic: string; readonly errorCode: number; readonly errorMessage: string | null }[]
> = {
  key: 20,
  name: 'DeleteTopics',
  minVersion: 4,
  maxVersion: 5,
  flexibleFrom: 4,

  encode(out, _version, request) {
    out.writeArray(request.topics, (topic) => out.writeString(topic));
    out.writeInt32(request.timeoutMs);
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    const topics = input.readArray(() => {
      const topic = input.readString();
      const errorCode = input.readInt16();
      const errorMessage = version >= 5 ? input.readNullableString() : null;
      input.endStruct();
      return { topic, errorCode, errorMessage };
    });
    input.endStruct();
    return topics;
  },
};
