import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { passThroughOperator } from '../../src/processors/pass-through.js';
import { checkCopartitioning } from '../../src/topology/copartitioning.js';
import type { TopicRef } from '../../src/topology/nodes.js';
import { resolveRepartitionPartitions } from '../../src/topology/repartition-partitions.js';
import { qualifiedName, TaskLayout } from '../../src/topology/task-layout.js';
import { topicPatternMatches } from '../../src/topology/topic-pattern.js';
import { TopologyBuilder } from '../../src/topology/topology-builder.js';
import { codeOf } from './error-code.js';
import { storeSpec } from './stores.js';

const external = (name: string): TopicRef => ({ name, internal: false });
const countsOf =
  (counts: Readonly<Record<string, number>>) =>
  ({ name }: TopicRef): number | null =>
    counts[name] ?? null;

/** From source to repartition topic: `from` → `<name>-repartition` → source `<name>`. */
function through(builder: TopologyBuilder, from: string, name: string, partitions: number | null = null): TopologyBuilder {
  return builder
    .addRepartitionTopic(`${name}-repartition`, partitions)
    .addSink(`${name}-sink`, `${name}-repartition`, [from])
    .addSource(name, { topics: [`${name}-repartition`] });
}

describe('checkCopartitioning', () => {
  const groups = [[external('orders'), external('customers'), external('new')]];

  it('accepts equal counts, and leaves out topics without one', () => {
    expect(() => checkCopartitioning(groups, countsOf({ orders: 4, customers: 4 }))).not.toThrow();
  });

  it('names both topics and their counts', () => {
    const check = () => checkCopartitioning(groups, countsOf({ orders: 4, customers: 1 }));
    expect(check).toThrow(/orders \(4 partitions\) and customers \(1 partition\)/);
    expect(codeOf(check)).toBe('MILL_TOPOLOGY_NOT_COPARTITIONED');
  });
});

describe('resolveRepartitionPartitions', () => {
  it('takes the largest topic upstream, along chains', () => {
    const builder = new TopologyBuilder().addSource('in', { topics: ['small', 'large'] });
    const topology = through(through(builder, 'in', 'first'), 'first', 'second').build();
    expect([...resolveRepartitionPartitions(topology, countsOf({ small: 2, large: 6 }))]).toEqual([
      ['first-repartition', 6],
      ['second-repartition', 6],
    ]);
  });

  it('keeps a given count, also for what follows', () => {
    const builder = new TopologyBuilder().addSource('in', { topics: ['in'] });
    const topology = through(through(builder, 'in', 'first', 3), 'first', 'second').build();
    expect(Object.fromEntries(resolveRepartitionPartitions(topology, countsOf({ in: 8 })))).toEqual({
      'first-repartition': 3,
      'second-repartition': 3,
    });
  });

  it('adopts the count of a topic it is joined with', () => {
    const builder = new TopologyBuilder().addSource('in', { topics: ['in'] }).addSource('table', { topics: ['table'] });
    const topology = through(builder, 'in', 'left').copartition(['left', 'table']).build();
    expect(Object.fromEntries(resolveRepartitionPartitions(topology, countsOf({ in: 8, table: 2 })))).toEqual({ 'left-repartition': 2 });
  });

  it('gives repartition topics that are joined with each other the larger count', () => {
    const builder = new TopologyBuilder().addSource('a', { topics: ['a'] }).addSource('b', { topics: ['b'] });
    const topology = through(through(builder, 'a', 'left'), 'b', 'right')
      .copartition(['left', 'right'])
      .build();
    expect(Object.fromEntries(resolveRepartitionPartitions(topology, countsOf({ a: 2, b: 5 })))).toEqual({
      'left-repartition': 5,
      'right-repartition': 5,
    });
  });

  it('refuses a given count that the other side of a join does not have', () => {
    const builder = new TopologyBuilder().addSource('in', { topics: ['in'] }).addSource('table', { topics: ['table'] });
    const topology = through(builder, 'in', 'left', 3).copartition(['left', 'table']).build();
    expect(codeOf(() => resolveRepartitionPartitions(topology, countsOf({ in: 8, table: 2 })))).toBe('MILL_TOPOLOGY_NOT_COPARTITIONED');
  });

  it('counts what a pattern matches', () => {
    const topology = through(new TopologyBuilder().addSource('in', { pattern: /in-.*/ }), 'in', 'next').build();
    const matching = (pattern: RegExp) => ['in-1', 'in-22', 'other'].filter((topic) => topicPatternMatches(pattern, topic));
    expect(Object.fromEntries(resolveRepartitionPartitions(topology, countsOf({ 'in-1': 1, 'in-22': 4, other: 9 }), matching))).toEqual({
      'next-repartition': 4,
    });
  });

  it('says which topic is missing, and when nothing upstream has a count', () => {
    const named = through(new TopologyBuilder().addSource('in', { topics: ['in'] }), 'in', 'next').build();
    expect(() => resolveRepartitionPartitions(named, () => null)).toThrow(/Source topic in does not exist/);
    expect(codeOf(() => resolveRepartitionPartitions(named, () => null))).toBe('MILL_TOPIC_MISSING');
    const matchless = through(new TopologyBuilder().addSource('in', { pattern: /in-.*/ }), 'in', 'next').build();
    expect(() => resolveRepartitionPartitions(matchless, () => null)).toThrow(/next-repartition can't be derived/);
    expect(codeOf(() => resolveRepartitionPartitions(matchless, () => null))).toBe('MILL_TOPOLOGY_INVALID');
  });
});

describe('TaskLayout', () => {
  const pass = passThroughOperator();
  const builder = new TopologyBuilder()
    .addSource('in', { topics: ['a', 'b'] })
    .addOperator('p', pass, ['in'])
    .addStateStore(storeSpec('kept'), { processors: ['p'] })
    .addStateStore(storeSpec('lost', { logged: false }), { processors: ['p'] })
    .addStateStore(storeSpec('mirrored', { logged: false }), { processors: ['p'], sourceTopic: 'b' });
  const topology = through(builder, 'p', 'next').build();
  const layout = new TaskLayout(topology, 'app', countsOf({ a: 2, b: 3, 'next-repartition': 2 }));

  it('has a task for each partition of a sub-topology’s largest source topic', () => {
    expect(layout.tasks.map((task) => `${task.subTopology}_${task.partition}`)).toEqual(['0_0', '0_1', '0_2', '1_0', '1_1']);
  });

  it('gives a task its partition of each source topic that has one, under the topics’ full names', () => {
    expect(layout.inputPartitions({ subTopology: 0, partition: 1 })).toEqual([
      { topic: 'a', partition: 1 },
      { topic: 'b', partition: 1 },
    ]);
    expect(layout.inputPartitions({ subTopology: 0, partition: 2 })).toEqual([{ topic: 'b', partition: 2 }]);
    expect(layout.inputPartitions({ subTopology: 1, partition: 0 })).toEqual([{ topic: 'app-next-repartition', partition: 0 }]);
  });

  it('gives a task the same partition of its changelogs', () => {
    expect(layout.changelogPartitions({ subTopology: 0, partition: 2 })).toEqual([
      { store: 'kept', topic: 'app-kept-changelog', partition: 2, isSourceTopic: false },
      { store: 'mirrored', topic: 'b', partition: 2, isSourceTopic: true },
    ]);
    expect(layout.changelogPartitions({ subTopology: 1, partition: 0 })).toEqual([]);
  });

  it('reads every input partition in exactly one task', () => {
    const count = fc.integer({ min: 1, max: 20 });
    fc.assert(
      fc.property(count, count, count, (a, b, next) => {
        const random = new TaskLayout(topology, 'app', countsOf({ a, b, 'next-repartition': next }));
        const read = random.tasks.flatMap((task) => random.inputPartitions(task)).map(({ topic, partition }) => `${topic}-${partition}`);
        expect(new Set(read).size).toBe(read.length);
        expect(read.length).toBe(a + b + next);
      }),
    );
  });
});

describe('names on the broker', () => {
  it('have the application id before internal topics only', () => {
    expect(qualifiedName('app', external('t'))).toBe('t');
    expect(qualifiedName('app', { name: 't-repartition', internal: true })).toBe('app-t-repartition');
  });

  it('match a pattern as a whole', () => {
    const pattern = /orders-.*/gy;
    expect(['orders-eu', 'my-orders-eu', 'orders-eu'].map((topic) => topicPatternMatches(pattern, topic))).toEqual([true, false, true]);
    expect(topicPatternMatches(/a|b/, 'ab')).toBe(false);
  });
});
