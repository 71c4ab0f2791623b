import type { StreamsBuilder } from 'millrace';

/** Of every input topic, and so of every task of a sub-topology. */
export const partitions = 2;

/**
 * Where the input's time begins, ms. It is near the wall clock, since the changelogs of window stores are deleted by age, and on a round five minutes, so that
 * records lie in their windows alike in every run.
 */
const beginning = Math.floor(Date.now() / 300_000) * 300_000;

export const at = (ms: number): number => beginning + ms;

export interface Given {
  /** Input of the family. */
  readonly topic: string;
  readonly key: string;
  readonly value: string | null;
  readonly timestamp: number;
  /** Default: that of the key. */
  readonly partition?: number;
}

/**
 * What of a topic does not depend on how the records of several partitions interleave:
 * - `rows`: the last value of each key, for tables (a deleted row and one that never was are the same);
 * - `records`: which records there are, by key, for joins whose inputs race;
 * - `sequences`: the records of each key in their order, where all that a key depends on lies in one partition.
 */
export type Comparison = 'rows' | 'records' | 'sequences';

/** A topology about one kind of operator, its input, and what its output must be. Topic names are the family's own: runs put their prefix before them. */
export interface Family {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: Readonly<Record<string, Comparison>>;
  declare(builder: StreamsBuilder, topic: (name: string) => string): void;
  /** Inputs of global tables: nobody commits where they are read. */
  readonly global?: readonly string[];
  /** Records that are there before the first instance starts. */
  readonly before?: readonly Given[];
  /** Records of one phase race with one another, not with those of the next: a run waits for the results in between. */
  readonly phases: readonly (readonly Given[])[];
}

/** A record in each partition, late enough to end every window that waits. */
export function flush(topic: string): Given[] {
  return Array.from({ length: partitions }, (_, partition) => ({
    topic,
    key: `flush-${partition}`,
    value: '0',
    timestamp: at(100_000),
    partition,
  }));
}
