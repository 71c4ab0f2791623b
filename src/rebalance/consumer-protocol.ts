/**
 * The framing of Kafka's consumer embedded protocol ("consumer" groups), read and written as Kafka's own clients do.
 *
 * Ours rides inside it, in `userData`: so `kafka-consumer-groups.sh` and every lag exporter show topics and assigned partitions of a
 * Millrace group as those of any consumer group. Subscriptions are written in version 2 (KIP-429 owned partitions, KIP-792
 * generation); a reader takes any version and ignores fields behind those it knows.
 */
import { WireReader } from '../kafka/protocol/wire-reader.js';
import { WireWriter } from '../kafka/protocol/wire-writer.js';
import type { TopicPartition } from '../kafka/port.js';

/** `protocolType` of JoinGroup that makes the broker and the tools read this framing. */
export const consumerProtocolType = 'consumer';

const subscriptionVersion = 2;
const assignmentVersion = 1;

export interface FramedSubscription {
  readonly topics: readonly string[];
  /** Empty for none. */
  readonly userData: Buffer;
  readonly ownedPartitions: readonly TopicPartition[];
  /** Generation in which `ownedPartitions` were assigned; -1 for none. */
  readonly generation: number;
}

export interface FramedAssignment {
  readonly partitions: readonly TopicPartition[];
  /** Empty for none. */
  readonly userData: Buffer;
}

export function encodeSubscription(subscription: FramedSubscription): Buffer {
  const out = new WireWriter(false);
  out.writeInt16(subscriptionVersion);
  out.writeArray([...subscription.topics].sort(), (topic) => out.writeString(topic));
  out.writeSizedBytes(subscription.userData);
  writePartitions(out, subscription.ownedPartitions);
  out.writeInt32(subscription.generation);
  return out.copy();
}

export function decodeSubscription(bytes: Buffer): FramedSubscription {
  const reader = new WireReader(bytes, false);
  const version = reader.readInt16();
  const topics = reader.readArray(() => reader.readString());
  const userData = reader.readSizedBytes();
  const ownedPartitions = version >= 1 ? readPartitions(reader) : [];
  const generation = version >= 2 ? reader.readInt32() : -1;
  return { topics, userData, ownedPartitions, generation };
}

export function encodeAssignment(assignment: FramedAssignment): Buffer {
  const out = new WireWriter(false);
  out.writeInt16(assignmentVersion);
  writePartitions(out, assignment.partitions);
  out.writeSizedBytes(assignment.userData);
  return out.copy();
}

/** An empty buffer is an assignment of nothing: what a broker sends to a member that the leader left out. */
export function decodeAssignment(bytes: Buffer): FramedAssignment {
  if (bytes.length === 0) return { partitions: [], userData: bytes };
  const reader = new WireReader(bytes, false);
  reader.readInt16();
  const partitions = readPartitions(reader);
  return { partitions, userData: reader.readSizedBytes() };
}

function writePartitions(out: WireWriter, partitions: readonly TopicPartition[]): void {
  const byTopic = new Map<string, number[]>();
  for (const { topic, partition } of partitions) {
    const known = byTopic.get(topic);
    if (known === undefined) byTopic.set(topic, [partition]);
    else known.push(partition);
  }
  const topics = [...byTopic].sort(([a], [b]) => (a < b ? -1 : 1));
  out.writeArray(topics, ([topic, numbers]) => {
    out.writeString(topic);
    out.writeArray(
      numbers.sort((a, b) => a - b),
      (partition) => out.writeInt32(partition),
    );
  });
}

function readPartitions(reader: WireReader): TopicPartition[] {
  const byTopic = reader.readArray(() => {
    const topic = reader.readString();
    return reader.readArray(() => ({ topic, partition: reader.readInt32() }));
  });
  return byTopic.flat();
}
