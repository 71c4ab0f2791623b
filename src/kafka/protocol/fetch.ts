import type { FetchedPartition, FetchRequest, FetchResponse } from '../port.js';
import type { Api } from './api.js';
import { groupByTopic } from './group-by-topic.js';
import type { WireReader } from './wire-reader.js';

/** First version with topic ids in place of names: each partition of the request must have one. */
export const FETCH_BY_TOPIC_ID = 13;

/** Fetch sessions are not used (session epoch −1). In an answer by topic id the topics are called by their ids. */
export const fetch: Api<FetchRequest, FetchResponse> = {
  key: 1,
  name: 'Fetch',
  minVersion: 11,
  maxVersion: FETCH_BY_TOPIC_ID,
  flexibleFrom: 12,

  encode(out, version, request) {
    out.writeInt32(-1);
    out.writeInt32(request.maxWaitMs);
    out.writeInt32(request.minBytes);
    out.writeInt32(request.maxBytes);
    out.writeInt8(request.isolation === 'read_committed' ? 1 : 0);
    out.writeInt32(0);
    out.writeInt32(-1);
    const byId = version >= FETCH_BY_TOPIC_ID;
    // Positions in a topic that is gone and in the one that took its name may be asked for together.
    const asked = byId ? request.partitions.map((partition) => ({ ...partition, topic: partition.topicId ?? '' })) : request.partitions;
    out.writeArray(groupByTopic(asked), ({ topic, partitions }) => {
      if (byId) out.writeUuid(topic);
      else out.writeString(topic);
      out.writeArray(partitions, (partition) => {
        out.writeInt32(partition.partition);
        out.writeInt32(-1);
        out.writeInt64(partition.offset);
        if (version >= 12) out.writeInt32(-1);
        out.writeInt64(-1);
        out.writeInt32(partition.maxBytes);
        out.endStruct();
      });
      out.endStruct();
    });
    out.writeArray([], () => undefined);
    out.writeString('');
    out.endStruct();
  },

  decode(input, version) {
    const throttleMs = input.readInt32();
    const errorCode = input.readInt16();
    input.readInt32();
    const partitions: FetchedPartition[] = [];
    input.readArray(() => {
      const topic = version < FETCH_BY_TOPIC_ID ? input.readString() : (input.readUuid() ?? '');
      input.readArray(() => partitions.push(readPartition(input, topic)));
      input.endStruct();
    });
    input.endStruct();
    return { errorCode, throttleMs, partitions };
  },
};

function readPartition(input: WireReader, topic: string): FetchedPartition {
  const partition = input.readInt32();
  const errorCode = input.readInt16();
  const highWatermark = input.readInt64();
  const lastStableOffset = input.readInt64();
  const logStartOffset = input.readInt64();
  const abortedTransactions = input.readArray(() => {
    const aborted = { producerId: input.readBigInt64(), firstOffset: input.readInt64() };
    input.endStruct();
    return aborted;
  });
  input.readInt32();
  const records = input.readSizedBytes();
  input.endStruct();
  return { topic, partition, errorCode, highWatermark, lastStableOffset, logStartOffset, abortedTransactions, records };
}
