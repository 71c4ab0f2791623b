/** Committed offsets of all groups, and those that wait in transactions for their outcome. */
import { ErrorCodes } from '../../kafka/error-codes.js';
import type { CommittedOffset, OffsetFetchResponse, TopicPartition } from '../../kafka/port.js';

type Offsets = Map<string, CommittedOffset>;

export class GroupOffsets {
  private readonly committed = new Map<string, Offsets>();
  /** Group → producer id → offsets. */
  private readonly pending = new Map<string, Map<bigint, Offsets>>();

  commit(groupId: string, offsets: readonly CommittedOffset[]): void {
    put(entry(this.committed, groupId), offsets);
  }

  addPending(groupId: string, producerId: bigint, offsets: readonly CommittedOffset[]): void {
    put(entry(entry(this.pending, groupId), producerId), offsets);
  }

  /** The transaction marker. */
  end(groupId: string, producerId: bigint, commit: boolean): void {
    const waiting = this.pending.get(groupId)?.get(producerId);
    this.pending.get(groupId)?.delete(producerId);
    if (commit && waiting !== undefined) this.commit(groupId, [...waiting.values()]);
  }

  fetch(groupId: string, partitions: readonly TopicPartition[] | null, requireStable: boolean): OffsetFetchResponse {
    const committed = this.committed.get(groupId);
    const waiting = [...(this.pending.get(groupId)?.values() ?? [])];
    const wanted = partitions ?? [...(committed?.values() ?? [])];
    const offsets = wanted.map(({ topic, partition }) => {
      const key = keyOf({ topic, partition });
      const none = { topic, partition, offset: -1, leaderEpoch: -1, metadata: '' };
      if (requireStable && waiting.some((pending) => pending.has(key))) return { ...none, errorCode: ErrorCodes.UNSTABLE_OFFSET_COMMIT };
      return { ...(committed?.get(key) ?? none), errorCode: ErrorCodes.NONE };
    });
    return { errorCode: ErrorCodes.NONE, offsets };
  }

  all(groupId: string): readonly CommittedOffset[] {
    return [...(this.committed.get(groupId)?.values() ?? [])];
  }

  has(groupId: string): boolean {
    return this.committed.has(groupId) || (this.pending.get(groupId)?.size ?? 0) > 0;
  }

  forget(groupId: string): void {
    this.committed.delete(groupId);
    this.pending.delete(groupId);
  }

  forgetTopic(topic: string): void {
    for (const offsets of this.committed.values()) {
      for (const [key, offset] of offsets) if (offset.topic === topic) offsets.delete(key);
    }
  }
}

function put(into: Offsets, offsets: readonly CommittedOffset[]): void {
  for (const { topic, partition, offset, leaderEpoch, metadata } of offsets) {
    into.set(keyOf({ topic, partition }), { topic, partition, offset, leaderEpoch, metadata: metadata ?? '' });
  }
}

function entry<K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = new Map<L, V>();
  map.set(key, made);
  return made;
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`;
}
