import { StreamsBuilder, type Optimization, type Topology } from 'millrace';
import type { Family } from './family.js';

export const allOptimizations: readonly Optimization[] = ['singleStoreSelfJoin', 'mergeRepartitions', 'reuseSourceTopics'];

/** The families in one topology; topics are named after `id` and family. */
export function topologyOf(families: readonly Family[], id: string, optimizations: readonly Optimization[] = []): Topology {
  const builder = new StreamsBuilder();
  for (const family of families) family.declare(builder, (topic) => topicName(id, family, topic));
  return builder.build({ optimizations });
}

export function topicName(id: string, family: Family, topic: string): string {
  return `${id}-${family.name}-${topic}`;
}
