import type { Api } from './api.js';

export interface DescribedConfig {
  readonly topic: string;
  readonly errorCode: number;
  readonly errorMessage: string | null;
  readonly configs: ReadonlyMap<string, string | null>;
}

const TOPIC_RESOURCE = 2;

/** The configs of topics. */
export const describeConfigs: Api<{ readonly topics: readonly string[] }, readonly DescribedConfig[]> = {
  key: 32,
  name: 'DescribeConfigs',
  minVersion: 2,
  maxVersion: 4,
  flexibleFrom: 4,

  encode(out, version, request) {
    out.writeArray(request.topics, (topic) => {
      out.writeInt8(TOPIC_RESOURCE);
      out.writeString(topic);
      out.writeNullArray();
      out.endStruct();
    });
    out.writeBoolean(false);
    if (version >= 3) out.writeBoolean(false);
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    const results = input.readArray((): DescribedConfig => {
      const errorCode = input.readInt16();
      const errorMessage = input.readNullableString();
      input.readInt8();
      const topic = input.readString();
      const configs = new Map<string, string | null>();
      input.readArray(() => {
        configs.set(input.readString(), input.readNullableString());
        input.readBoolean();
        input.readInt8();
        input.readBoolean();
        input.readArray(() => {
          input.readString();
          input.readNullableString();
          input.readInt8();
          input.endStruct();
        });
        if (version >= 3) {
          input.readInt8();
          input.readNullableString();
        }
        input.endStruct();
      });
      input.endStruct();
      return { topic, errorCode, errorMessage, configs };
    });
    input.endStruct();
    return results;
  },
};
