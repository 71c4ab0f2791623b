import type { IsolationLevel, OffsetAnswer, OffsetQuery } from '../port.js';
import type { Api } from './api.js';
import { groupByTopic } from './group-by-topic.js';

export interface ListOffsetsRequest {
  readonly isolation: IsolationLevel;
  readonly queries: readonly OffsetQuery[];
}

/** Sent to the leader of the partitions. */
export const listOffsets: Api<ListOffsetsRequest, readonly OffsetAnswer[]> = {
  key: 2,
  name: 'ListOffsets',
  minVersion: 4,
  maxVersion: 7,
  flexibleFrom: 6,

  encode(out, _version, request) {
    out.writeInt32(-1);
    out.writeInt8(request.isolation === 'read_committed' ? 1 : 0);
    out.writeArray(groupByTopic(request.queries), ({ topic, partitions }) => {
      out.writeString(topic);
      out.writeArray(partitions, (query) => {
        out.writeInt32(query.partition);
        out.writeInt32(-1);
        out.writeInt64(timestampOf(query));
        out.endStruct();
      });
      out.endStruct();
    });
    out.endStruct();
  },

  decode(input) {
    input.readInt32();
    const answers: OffsetAnswer[] = [];
    input.readArray(() => {
      const topic = input.readString();
      input.readArray(() => {
        const partition = input.readInt32();
        const errorCode = input.readInt16();
        input.readInt64();
        const offset = input.readInt64();
        input.readInt32();
        input.endStruct();
        answers.push({ topic, partition, errorCode, offset });
      });
      input.endStruct();
    });
    input.endStruct();
    return answers;
  },
};

function timestampOf(query: OffsetQuery): number {
  if (query.at === 'latest') return -1;
  return query.at === 'earliest' ? -2 : query.at;
}
