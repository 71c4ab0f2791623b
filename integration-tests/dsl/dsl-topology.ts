import { StreamsBuilder, type Topology } from 'millrace';
import type { Family } from './family.js';

/** The families in one topology; topics are named after `id` and family. */
export function topologyOf(families: readonly Family[], id: string): Topology {
  const builder = new StreamsBuilder();
  for (const family of families) family.declare(builder, (topic) => topicName(id, family, topic));
  return builder.build();
}

export function topicName(id: string, family: Family, topic: string): string {
  return `${id}-${family.name}-${topic}`;
}
