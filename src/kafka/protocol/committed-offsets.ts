import type { CommittedOffset } from '../port.js';
import { groupByTopic } from './group-by-topic.js';
import type { WireWriter } from './wire-writer.js';

/** Offsets under their topics, as OffsetCommit and TxnOffsetCommit want them. */
export function writeCommittedOffsets(out: WireWriter, offsets: readonly CommittedOffset[]): void {
  out.writeArray(groupByTopic(offsets), ({ topic, partitions }) => {
    out.writeString(topic);
    out.writeArray(partitions, (offset) => {
      out.writeInt32(offset.partition);
      out.writeInt64(offset.offset);
      out.writeInt32(offset.leaderEpoch);
      out.writeNullableString(offset.metadata);
      out.endStruct();
    });
    out.endStruct();
  });
}
