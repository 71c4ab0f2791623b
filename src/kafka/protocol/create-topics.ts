import type { NewTopic } from '../port.js';
import type { Api } from './api.js';

export interface CreatedTopic {
  readonly topic: string;
  readonly errorCode: number;
  readonly errorMessage: string | null;
}

export const createTopics: Api<{ readonly topics: readonly NewTopic[]; readonly timeoutMs: number }, readonly CreatedTopic[]> = {
  key: 19,
  name: 'CreateTopics',
  minVersion: 5,
  maxVersion: 7,
  flexibleFrom: 5,

  encode(out, _version, request) {
    out.writeArray(request.topics, (topic) => {
      out.writeString(topic.topic);
      out.writeInt32(topic.partitions);
      out.writeInt16(topic.replicationFactor);
      out.writeArray([], () => undefined);
      out.writeArray(Object.entries(topic.configs), ([name, value]) => {
        out.writeString(name);
        out.writeNullableString(value);
        out.endStruct();
      });
      out.endStruct();
    });
    out.writeInt32(request.timeoutMs);
    out.writeBoolean(false);
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    const topics = input.readArray(() => {
      const topic = input.readString();
      if (version >= 7) input.readUuid();
      const errorCode = input.readInt16();
      const errorMessage = input.readNullableString();
      input.readInt32();
      input.readInt16();
      input.readArray(() => {
        input.readString();
        input.readNullableString();
        input.readBoolean();
        input.readInt8();
        input.readBoolean();
        input.endStruct();
      });
      input.endStruct();
      return { topic, errorCode, errorMessage };
    });
    input.endStruct();
    return topics;
  },
};
