/**
 * How far into its input topics a store has got: for each topic and partition the offset of the last record that is in it (Kafka Streams' `Position`).
 *
 * Plain data, so it travels as JSON: take the position of one answer and ask for at least that in the next, also on another instance.
 */
export type Position = Readonly<Record<string, Readonly<Record<number, number>>>>;

export const emptyPosition: Position = Object.freeze({});

/** The highest offset of each partition that any of them has. */
export function mergePositions(positions: Iterable<Position>): Position {
  const merged: Record<string, Record<number, number>> = {};
  for (const position of positions) {
    for (const [topic, partitions] of Object.entries(position)) {
      const into = (merged[topic] ??= {});
      for (const [partition, offset] of Object.entries(partitions)) {
        into[Number(partition)] = Math.max(offset, into[Number(partition)] ?? -1);
      }
    }
  }
  return merged;
}

/** Whether a store's partition at `position` has what `bound` asks of that partition; what it asks of others is theirs to have. */
export function reaches(position: Position, bound: Position, partition: number): boolean {
  for (const [topic, offsets] of Object.entries(bound)) {
    const needed = offsets[partition];
    if (needed !== undefined && (position[topic]?.[partition] ?? -1) < needed) return false;
  }
  return true;
}

/** From the offsets to go on at. */
export function positionBefore(nexts: Iterable<{ readonly topic: string; readonly partition: number; readonly offset: number }>): Position {
  const position: Record<string, Record<number, number>> = {};
  for (const { topic, partition, offset } of nexts) if (offset > 0) (position[topic] ??= {})[partition] = offset - 1;
  return position;
}
