import { StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';
import { serdes } from '../../src/serdes/serdes.js';
import { partitions, type Comparison, type Family } from './family.js';

export interface Seen {
  readonly key: string | null;
  readonly value: string | null;
  readonly timestamp: number;
}

/** What is compared of a topic, by key. */
export type Relation = Readonly<Record<string, readonly string[]>>;

export function relationOf(records: readonly Seen[], comparison: Comparison): Relation {
  const byKey = new Map<string, string[]>();
  for (const { key, value, timestamp } of records) {
    const name = String(key);
    if (comparison === 'rows') {
      if (value === null) byKey.delete(name);
      else byKey.set(name, [value]);
      continue;
    }
    const list = byKey.get(name) ?? [];
    list.push(`${value}@${timestamp}`);
    byKey.set(name, list);
  }
  if (comparison === 'records') for (const list of byKey.values()) list.sort();
  return Object.fromEntries([...byKey].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What the test driver gives: for each phase the relations of all outputs, as of its end. */
export async function expected(family: Family): Promise<Readonly<Record<string, Relation>>[]> {
  const builder = new StreamsBuilder();
  family.declare(builder, (name) => name);
  const strings = { keySerde: serdes.string, valueSerde: serdes.string };
  const config = { partitions: Object.fromEntries([...family.inputs, ...Object.keys(family.outputs)].map((name) => [name, partitions])) };
  await using driver = new TopologyTestDriver(builder.build(), config);
  const relations: Readonly<Record<string, Relation>>[] = [];
  for (const { topic, key, value, ...options } of family.before ?? []) await driver.inputTopic(topic, strings).pipe(key, value, options);
  for (const phase of family.phases) {
    for (const { topic, key, value, ...options } of phase) await driver.inputTopic(topic, strings).pipe(key, value, options);
    relations.push(
      Object.fromEntries(
        Object.entries(family.outputs).map(([name, comparison]) => [
          name,
          relationOf(driver.outputTopic(name, strings).readAll(), comparison),
        ]),
      ),
    );
  }
  return relations;
}
