/** Event time that would wait for itself: a sub-topology that hears of it through topics that it writes itself, directly or through others, never hears the first word. */
import type { RepartitionTopic, SubTopology } from './nodes.js';
import { invalidTopology } from './topology-errors.js';

/** @throws MILL_TOPOLOGY_INVALID naming the topics of a loop */
export function checkEventTimeLoops(topics: ReadonlyMap<string, RepartitionTopic>, subTopologies: readonly SubTopology[]): void {
  const carries = ({ name, internal }: { readonly name: string; readonly internal: boolean }): boolean =>
    internal && topics.get(name)?.carriesWatermarks === true;
  const readersOf = (topic: string): SubTopology[] =>
    subTopologies.filter(({ sourceTopics }) => sourceTopics.some(({ name, internal }) => internal && name === topic));
  for (const start of subTopologies) {
    const way = new Map<number, readonly string[]>([[start.id, []]]);
    for (const [id, soFar] of way) {
      for (const { name } of subTopologies.find((sub) => sub.id === id)?.sinkTopics.filter(carries) ?? []) {
        for (const reader of readersOf(name)) {
          if (reader.id === start.id) throw loop([...soFar, name]);
          if (!way.has(reader.id)) way.set(reader.id, [...soFar, name]);
        }
      }
    }
  }
}

function loop(topics: readonly string[]): Error {
  return invalidTopology(
    `Event time would wait for itself: records go out through ${topics.join(', ')} and come back to where they meet others of their own source. Give the others a topic of their own too (\`.repartition({ name })\` before they meet), or take \`watermarks\` from the source.`,
    { topics },
  );
}
