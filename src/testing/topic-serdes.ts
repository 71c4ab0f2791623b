import { MillraceError } from '../errors.js';
import { isSerde } from '../serdes/checked-serde.js';
import type { Serde } from '../serdes/serde.js';

/** Serdes of a topic as the test writes or reads it. */
export interface TopicSerdes<K, V> {
  /** Of the keys, as the topology has it. */
  readonly keySerde: Serde<K>;
  /** Of the values. */
  readonly valueSerde: Serde<V>;
}

export function checkTopicSerdes(method: string, topic: string, serdes: Partial<TopicSerdes<unknown, unknown>> | undefined): void {
  if (isSerde(serdes?.keySerde) && isSerde(serdes?.valueSerde)) return;
  throw new MillraceError(
    'MILL_CONFIG_INVALID',
    `${method}('${topic}', …) needs { keySerde, valueSerde }, both of them serdes: serdes.string, serdes.json(), …`,
  );
}
