import type { Serde } from '../serdes/serde.js';
import type { Partitioner, SinkNode, TopicNameExtractor, TopicRef } from './nodes.js';

/** How records of a sink are written. Absent = the app's default. */
export interface SinkOptions {
  /** Default: the app's. */
  readonly keySerde?: Serde<unknown> | null;
  /** Default: the app's. */
  readonly valueSerde?: Serde<unknown> | null;
  /** Absent: murmur2 of the key bytes, Kafka's default. */
  readonly partitioner?: Partitioner | null;
}

export function sinkNode(name: string, topic: TopicRef | TopicNameExtractor, options: SinkOptions, parents: readonly string[]): SinkNode {
  return Object.freeze({
    kind: 'sink',
    name,
    topic,
    keySerde: options.keySerde ?? null,
    valueSerde: options.valueSerde ?? null,
    partitioner: options.partitioner ?? null,
    parents: Object.freeze(parents.slice()),
  });
}
