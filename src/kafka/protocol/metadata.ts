import type { ClusterMetadata, PartitionMetadata, TopicMetadata } from '../port.js';
import type { Api } from './api.js';
import type { WireReader } from './wire-reader.js';

/** Topics by name, or null for all. Never creates topics. */
export const metadata: Api<{ readonly topics: readonly string[] | null }, ClusterMetadata> = {
  key: 3,
  name: 'Metadata',
  minVersion: 9,
  maxVersion: 12,
  flexibleFrom: 9,

  encode(out, version, request) {
    if (request.topics === null) out.writeNullArray();
    else {
      out.writeArray(request.topics, (topic) => {
        if (version >= 10) out.writeUuid(null);
        out.writeString(topic);
        out.endStruct();
      });
    }
    out.writeBoolean(false);
    if (version <= 10) out.writeBoolean(false);
    out.writeBoolean(false);
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    const brokers = input.readArray(() => {
      const broker = { nodeId: input.readInt32(), host: input.readString(), port: input.readInt32(), rack: input.readNullableString() };
      input.endStruct();
      return broker;
    });
    const clusterId = input.readNullableString();
    const controllerId = input.readInt32();
    const topics = new Map<string, TopicMetadata>();
    input.readArray(() => {
      const topic = readTopic(input, version);
      topics.set(topic.name, topic);
    });
    if (version <= 10) input.readInt32();
    input.endStruct();
    return { clusterId, controllerId, brokers, topics };
  },
};

function readTopic(input: WireReader, version: number): TopicMetadata {
  const errorCode = input.readInt16();
  const name = input.readString();
  const topicId = version >= 10 ? input.readUuid() : null;
  const isInternal = input.readBoolean();
  const partitions = input.readArray(() => readPartition(input)).sort((a, b) => a.partition - b.partition);
  input.readInt32();
  input.endStruct();
  return { name, topicId, isInternal, errorCode, partitions };
}

function readPartition(input: WireReader): PartitionMetadata {
  const errorCode = input.readInt16();
  const partition = input.readInt32();
  const leader = input.readInt32();
  const leaderEpoch = input.readInt32();
  for (let list = 0; list < 3; list++) input.readArray(() => input.readInt32());
  input.endStruct();
  return { partition, leader, leaderEpoch, errorCode };
}
