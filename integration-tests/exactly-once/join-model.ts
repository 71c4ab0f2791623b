import type { ReadRecord } from '../faults/topic-tail.js';
import { joined, joinReach } from './job-topology.js';

/** A record and which of the topics it comes from, by place. */
export interface Taken {
  readonly source: number;
  readonly record: ReadRecord;
}

/**
 * What the tasks take of several topics, in their order: of each partition the oldest record next, as long as there is something of each topic to choose from. The
 * rest stays until more comes (`joinConfig`).
 */
export function taskOrder(topics: readonly (readonly ReadRecord[])[]): readonly Taken[] {
  const taken: Taken[] = [];
  const all = topics.map(byPartition);
  for (const partition of all[0]?.keys() ?? []) {
    const queues = all.map((partitions) => partitions.get(partition) ?? []);
    const heads = queues.map(() => 0);
    const head = (source: number): ReadRecord | undefined => queues[source]?.[heads[source] ?? 0];
    for (;;) {
      let first: Taken | null = null;
      for (const source of queues.keys()) {
        const record = head(source);
        if (record === undefined) first = null;
        else if (first === null || record.timestamp < first.record.timestamp) first = { source, record };
        if (record === undefined) break;
      }
      if (first === null) break;
      heads[first.source] = (heads[first.source] ?? 0) + 1;
      taken.push(first);
    }
  }
  return taken;
}

/** What the job's joins must have written for what its tasks took: records of `input` (0), `rows` (1) and `others` (2). */
export class JoinModel {
  /** By key, in order. */
  readonly enriched = new Map<string, string[]>();
  /** By key, in any order. */
  readonly pairs = new Map<string, string[]>();
  /** The table as it is at the end. */
  readonly rows = new Map<string, number>();

  constructor(taken: readonly Taken[]) {
    const lefts = new Map<string, { readonly value: number; readonly time: number; readonly partition: number }[]>();
    const rights = new Map<string, { readonly value: number; readonly time: number }[]>();
    const streamTimes = new Map<number, number>();
    for (const { source, record } of taken) {
      const { key, value, timestamp: time, partition } = record;
      if (key === null) throw new Error('the job’s input has no null keys');
      if (source === 1) {
        if (value === null) this.rows.delete(key);
        else this.rows.set(key, value.readInt32BE(0));
        continue;
      }
      if (value === null) throw new Error('the job’s streams have no null values');
      const number = value.readInt32BE(0);
      streamTimes.set(partition, time);
      if (source === 0) {
        add(this.enriched, key, joined(number, this.rows.get(key) ?? null));
        add(lefts, key, { value: number, time, partition });
      } else add(rights, key, { value: number, time });
    }
    for (const [key, list] of lefts) {
      const others = rights.get(key) ?? [];
      let [from, to] = [0, 0];
      for (const left of list) {
        while (from < others.length && (others[from]?.time ?? 0) < left.time - joinReach) from++;
        while (to < others.length && (others[to]?.time ?? 0) <= left.time + joinReach) to++;
        const partners = others.slice(from, to);
        for (const right of partners) add(this.pairs, key, joined(left.value, right.value));
        const isOver = left.time + joinReach < (streamTimes.get(left.partition) ?? 0);
        if (partners.length === 0 && isOver) add(this.pairs, key, joined(left.value, null));
      }
    }
  }
}

function byPartition(records: readonly ReadRecord[]): ReadonlyMap<number, readonly ReadRecord[]> {
  const partitions = new Map<number, ReadRecord[]>();
  for (const record of records) add(partitions, record.partition, record);
  return partitions;
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
