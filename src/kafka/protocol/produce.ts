import type { ProducedPartition, ProduceRequest, ProduceResponse } from '../port.js';
import type { Api } from './api.js';
import { groupByTopic } from './group-by-topic.js';
import type { WireReader } from './wire-reader.js';

/** From version 12 a transactional Produce adds its partitions to the transaction by itself (KIP-890, transaction.version 2). */
export const PRODUCE_IMPLICIT_TRANSACTION = 12;

/** Version 12 is the last one with topic names. Record batches go into the request by reference. */
export const produce: Api<ProduceRequest, ProduceResponse> = {
  key: 0,
  name: 'Produce',
  minVersion: 7,
  maxVersion: PRODUCE_IMPLICIT_TRANSACTION,
  flexibleFrom: 9,

  encode(out, _version, request) {
    out.writeNullableString(request.transactionalId);
    out.writeInt16(request.acks);
    out.writeInt32(request.timeoutMs);
    out.writeArray(groupByTopic(request.partitions), ({ topic, partitions }) => {
      out.writeString(topic);
      out.writeArray(partitions, (partition) => {
        out.writeInt32(partition.partition);
        let size = 0;
        for (const batch of partition.records) size += batch.length;
        out.writeBytesSize(size);
        for (const batch of partition.records) out.writeByReference(batch);
        out.endStruct();
      });
      out.endStruct();
    });
    out.endStruct();
  },

  decode(input, version) {
    const partitions: ProducedPartition[] = [];
    input.readArray(() => {
      const topic = input.readString();
      input.readArray(() => partitions.push(readPartition(input, version, topic)));
      input.endStruct();
    });
    const throttleMs = input.readInt32();
    input.endStruct();
    return { throttleMs, partitions };
  },
};

function readPartition(input: WireReader, version: number, topic: string): ProducedPartition {
  const partition = input.readInt32();
  const errorCode = input.readInt16();
  const baseOffset = input.readInt64();
  const logAppendTime = input.readInt64();
  input.readInt64();
  let errorMessage: string | null = null;
  if (version >= 8) {
    const recordErrors = input.readArray(() => {
      input.readInt32();
      const message = input.readNullableString();
      input.endStruct();
      return message;
    });
    errorMessage = input.readNullableString() ?? recordErrors.find((message) => message !== null) ?? null;
  }
  input.endStruct();
  return { topic, partition, errorCode, baseOffset, logAppendTime, errorMessage };
}
