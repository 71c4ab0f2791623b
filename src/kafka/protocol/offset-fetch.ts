import type { CommittedOffset, OffsetFetchRequest, OffsetFetchResponse } from '../port.js';
import type { Api } from './api.js';
import { groupByTopic } from './group-by-topic.js';
import type { WireReader } from './wire-reader.js';
import type { WireWriter } from './wire-writer.js';

/** Version 7 is the first with `requireStable`; 8 asks for several groups at once, and is used for one. */
export const offsetFetch: Api<OffsetFetchRequest, OffsetFetchResponse> = {
  key: 9,
  name: 'OffsetFetch',
  minVersion: 7,
  maxVersion: 8,
  flexibleFrom: 6,

  encode(out, version, request) {
    if (version >= 8) {
      out.writeArray([request], (group) => {
        out.writeString(group.groupId);
        writeTopics(out, group);
        out.endStruct();
      });
    } else {
      out.writeString(request.groupId);
      writeTopics(out, request);
    }
    out.writeBoolean(request.requireStable);
    out.endStruct();
  },

  decode(input, version) {
    input.readInt32();
    let response: OffsetFetchResponse = { errorCode: 0, offsets: [] };
    if (version >= 8) {
      input.readArray(() => {
        input.readString();
        response = readOffsets(input);
        input.endStruct();
      });
    } else response = readOffsets(input);
    input.endStruct();
    return response;
  },
};

function writeTopics(out: WireWriter, request: OffsetFetchRequest): void {
  if (request.partitions === null) {
    out.writeNullArray();
    return;
  }
  out.writeArray(groupByTopic(request.partitions), ({ topic, partitions }) => {
    out.writeString(topic);
    out.writeArray(partitions, ({ partition }) => out.writeInt32(partition));
    out.endStruct();
  });
}

function readOffsets(input: WireReader): OffsetFetchResponse {
  const offsets: (CommittedOffset & { errorCode: number })[] = [];
  input.readArray(() => {
    const topic = input.readString();
    input.readArray(() => {
      const partition = input.readInt32();
      const offset = input.readInt64();
      const leaderEpoch = input.readInt32();
      const metadata = input.readNullableString();
      const errorCode = input.readInt16();
      input.endStruct();
      offsets.push({ topic, partition, offset, leaderEpoch, metadata, errorCode });
    });
    input.endStruct();
  });
  return { errorCode: input.readInt16(), offsets };
}
