/** Groups partitions under their topic, in the order in which they came, as most requests want them. */
export function groupByTopic<T extends { readonly topic: string }>(
  items: readonly T[],
): readonly { readonly topic: string; readonly partitions: readonly T[] }[] {
  const topics = new Map<string, T[]>();
  for (const item of items) {
    const known = topics.get(item.topic);
    if (known === undefined) topics.set(item.topic, [item]);
    else known.push(item);
  }
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
}
