import type { PartitionResult, TopicPartition } from '../port.js';
import type { Api } from './api.js';
import { groupByTopic } from './group-by-topic.js';

/** Sent to the leader of the partitions. */
export const deleteRecords: Api<
  { readonly before: readonly (TopicPartition & { readonly offset: number })[]; readonly timeoutMs: number },
  readonly PartitionResult[]
> = {
  key: 21,
  name: 'DeleteRecords',
  minVersion: 1,
  maxVersion: 2,
  flexibleFrom: 2,

  encode(out, _version, request) {
    out.writeArray(groupByTopic(request.before), ({ topic, partitions }) => {
      out.writeString(topic);
      out.writeArray(partitions, ({ partition, offset }) => {
        out.writeInt32(partition);
        out.writeInt64(offset);
        out.endStruct();
      });
      out.endStruct();
    });
    out.writeInt32(request.timeoutMs);
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const results: PartitionResult[] = [];
    input.readArray(() => {
      const topic = input.readString();
      input.readArray(() => {
        const partition = input.readInt32();
        input.readInt64();
        const errorCode = input.readInt16();
        input.endStruct();
        results.push({ topic, partition, errorCode });
      });
      input.endStruct();
    });
    input.endStruct();
    return results;
  },
};
