import type { Topology } from './nodes.js';

/**
 * Sub-topologies in the order in which records pass them: each group before those that read what it writes to internal topics. Sub-topologies that feed each other (a
 * foreign-key join) are one group.
 */
export function subTopologyOrder(topology: Topology): readonly (readonly number[])[] {
  const below = new Map<number, Set<number>>();
  for (const { id, sinkTopics } of topology.subTopologies) {
    const written = new Set(sinkTopics.filter(({ internal }) => internal).map(({ name }) => name));
    const readers = topology.subTopologies.filter(({ sourceTopics }) =>
      sourceTopics.some(({ name, internal }) => internal && written.has(name)),
    );
    below.set(id, new Set(readers.map((reader) => reader.id)));
  }
  const reaches = new Map([...below.keys()].map((id) => [id, reachable(id, below)]));
  const groups: (readonly number[])[] = [];
  for (const id of below.keys()) {
    if (groups.some((group) => group.includes(id))) continue;
    const mutual = [...below.keys()].filter((other) => other === id || (reaches.get(id)?.has(other) && reaches.get(other)?.has(id)));
    groups.push(Object.freeze(mutual));
  }
  // Whoever reaches more stands further up; groups that do not reach each other may come in any order.
  const size = ([first = -1]: readonly number[]): number => reaches.get(first)?.size ?? 0;
  return Object.freeze(groups.sort((one, other) => size(other) - size(one)));
}

/** Whether a group feeds itself, so that it may get records when all of its tasks have read what there was. */
export function isLoop(topology: Topology, group: readonly number[]): boolean {
  if (group.length > 1) return true;
  const sub = topology.subTopologies.find(({ id }) => id === group[0]);
  return (
    sub?.sinkTopics.some(({ name, internal }) => internal && sub.sourceTopics.some((source) => source.internal && source.name === name)) ===
    true
  );
}

function reachable(from: number, below: ReadonlyMap<number, ReadonlySet<number>>): ReadonlySet<number> {
  const seen = new Set(below.get(from));
  // A set that grows while it is walked visits what was added.
  for (const id of seen) for (const next of below.get(id) ?? []) seen.add(next);
  return seen;
}
