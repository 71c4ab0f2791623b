import { describe, expect, it } from '@jest/globals';
import { passThroughOperator } from '../../src/processors/pass-through.js';
import { TopologyBuilder } from '../../src/topology/topology-builder.js';
import { codeOf } from './error-code.js';
import { storeSpec } from './stores.js';

const pass = passThroughOperator();

describe('sub-topologies', () => {
  it('are parts that share no node and no store, numbered by their first node', () => {
    const topology = new TopologyBuilder()
      .addSource('a', { topics: ['ta'] })
      .addSource('b', { topics: ['tb'] })
      .addOperator('pa', pass, ['a'])
      .addOperator('pb', pass, ['b'])
      .addSink('sb', 'out', ['pb'])
      .build();
    expect(topology.subTopologies).toEqual([
      { id: 0, nodes: ['a', 'pa'], sourceTopics: [{ name: 'ta', internal: false }], sourcePatterns: [], sinkTopics: [], stores: [] },
      {
        id: 1,
        nodes: ['b', 'pb', 'sb'],
        sourceTopics: [{ name: 'tb', internal: false }],
        sourcePatterns: [],
        sinkTopics: [{ name: 'out', internal: false }],
        stores: [],
      },
    ]);
  });

  it('are joined by a common child, and by a common store', () => {
    const byChild = new TopologyBuilder()
      .addSource('a', { topics: ['ta'] })
      .addSource('b', { topics: ['tb'] })
      .addOperator('p', pass, ['a', 'b']);
    expect(byChild.build().subTopologies.map(({ nodes }) => nodes)).toEqual([['a', 'b', 'p']]);

    const byStore = new TopologyBuilder()
      .addSource('a', { topics: ['ta'] })
      .addSource('b', { topics: ['tb'] })
      .addOperator('pa', pass, ['a'])
      .addOperator('pb', pass, ['b'])
      .addStateStore(storeSpec('s'), { processors: ['pa', 'pb'] })
      .build();
    expect(byStore.subTopologies.map(({ nodes, stores }) => ({ nodes, stores }))).toEqual([
      { nodes: ['a', 'b', 'pa', 'pb'], stores: ['s'] },
    ]);
  });

  it('leave a number to each global store, which has no tasks', () => {
    const topology = new TopologyBuilder()
      .addGlobalStore(storeSpec('g', { logged: false }), { topic: 'tg', sourceName: 'gs', processorName: 'gp' })
      .addSource('a', { topics: ['ta'] })
      .build();
    expect(topology.globalStores.get('g')?.id).toBe(0);
    expect(topology.subTopologies.map(({ id }) => id)).toEqual([1]);
    expect([...topology.nodes.keys()]).toEqual(['a']);
  });
});

describe('nodes', () => {
  const topology = new TopologyBuilder()
    .addRepartitionTopic('r-repartition', 3)
    .addSource('a', { topics: ['ta'] })
    .addOperator('p', pass, ['a'])
    .addSink('out', 'r-repartition', ['p'])
    .addSource('back', { topics: ['r-repartition'] })
    .addSink('end', (_key, value) => String(value), ['back'])
    .build();

  it('know their parents and children', () => {
    expect(topology.nodes.get('a')).toMatchObject({ kind: 'source', children: ['p'] });
    expect(topology.nodes.get('p')).toMatchObject({ kind: 'processor', parents: ['a'], children: ['out'] });
    expect(topology.nodes.get('out')).toMatchObject({ kind: 'sink', parents: ['p'] });
  });

  it('refer to repartition topics as internal, on both sides', () => {
    expect(topology.nodes.get('out')).toMatchObject({ topic: { name: 'r-repartition', internal: true } });
    expect(topology.nodes.get('back')).toMatchObject({ topics: [{ name: 'r-repartition', internal: true }] });
    expect(topology.repartitionTopics.get('r-repartition')).toEqual({ name: 'r-repartition', partitions: 3 });
  });

  it('are frozen, with all they hold', () => {
    for (const node of topology.nodes.values()) {
      expect(Object.isFrozen(node)).toBe(true);
      for (const part of Object.values(node) as unknown[]) if (Array.isArray(part)) expect(Object.isFrozen(part)).toBe(true);
    }
    expect(Object.isFrozen(topology)).toBe(true);
    expect(Object.isFrozen(topology.subTopologies[0])).toBe(true);
  });

  it('of a topology stay as they were when the builder goes on', () => {
    const builder = new TopologyBuilder().addSource('a', { topics: ['ta'] });
    const before = builder.build();
    builder.addSink('s', 'out', ['a']);
    expect(before.nodes.get('a')).toMatchObject({ children: [] });
    expect(builder.build().nodes.get('a')).toMatchObject({ children: ['s'] });
  });
});

describe('co-partition groups', () => {
  it('that share a topic are one', () => {
    const topology = new TopologyBuilder()
      .addSource('a', { topics: ['ta'] })
      .addSource('b', { topics: ['tb'] })
      .addSource('c', { topics: ['tc'] })
      .addSource('d', { topics: ['td'] })
      .addSource('e', { topics: ['te'] })
      .copartition(['a', 'b'])
      .copartition(['d', 'e'])
      .copartition(['b', 'c'])
      .build();
    expect(topology.copartitionGroups.map((group) => group.map(({ name }) => name))).toEqual([
      ['ta', 'tb', 'tc'],
      ['td', 'te'],
    ]);
  });

  it('of repartition topics with different given counts are refused at once', () => {
    const builder = new TopologyBuilder()
      .addRepartitionTopic('l-repartition', 3)
      .addRepartitionTopic('r-repartition', 4)
      .addSource('l', { topics: ['l-repartition'] })
      .addSource('r', { topics: ['r-repartition'] })
      .copartition(['l', 'r']);
    expect(() => builder.build()).toThrow(/l-repartition \(3 partitions\) and r-repartition \(4 partitions\)/);
    expect(codeOf(() => builder.build())).toBe('MILL_TOPOLOGY_NOT_COPARTITIONED');
  });
});

describe('what is refused', () => {
  const source = () => new TopologyBuilder().addSource('a', { topics: ['ta'] });
  const withStore = () =>
    source()
      .addOperator('p', pass, ['a'])
      .addStateStore(storeSpec('s'), { processors: ['p'] });

  const refused: readonly (readonly [what: string, code: string, message: RegExp, attempt: () => unknown])[] = [
    ['two nodes of one name', 'MILL_TOPOLOGY_DUPLICATE_NAME', /node name a\./, () => source().addOperator('a', pass, ['a'])],
    ['two sources of one topic', 'MILL_TOPOLOGY_DUPLICATE_NAME', /Topic ta .* a and b/, () => source().addSource('b', { topics: ['ta'] })],
    [
      'a pattern that matches a topic that is read',
      'MILL_TOPOLOGY_DUPLICATE_NAME',
      /Topic ta/,
      () => source().addSource('b', { pattern: /t./ }),
    ],
    [
      'a topic that matches a pattern that is read',
      'MILL_TOPOLOGY_DUPLICATE_NAME',
      /Topic ta/,
      () => new TopologyBuilder().addSource('b', { pattern: /t./g }).addSource('a', { topics: ['ta'] }),
    ],
    ['two stores of one name', 'MILL_TOPOLOGY_DUPLICATE_NAME', /store name s\./, () => withStore().addStateStore(storeSpec('s'))],
    [
      'a store and a global store of one name',
      'MILL_TOPOLOGY_DUPLICATE_NAME',
      /store name s\./,
      () => withStore().addGlobalStore(storeSpec('s', { logged: false }), { topic: 'g', sourceName: 'gs', processorName: 'gp' }),
    ],
    [
      'a repartition topic added twice',
      'MILL_TOPOLOGY_DUPLICATE_NAME',
      /r-repartition/,
      () => source().addRepartitionTopic('r-repartition').addRepartitionTopic('r-repartition'),
    ],
    [
      'one name for source and processor of a global store',
      'MILL_TOPOLOGY_DUPLICATE_NAME',
      /node name x\./,
      () => source().addGlobalStore(storeSpec('g', { logged: false }), { topic: 'g', sourceName: 'x', processorName: 'x' }),
    ],
    [
      'a store that nobody added',
      'MILL_TOPOLOGY_UNKNOWN_STORE',
      /Processor p names the store x; the topology has no store\./,
      () => source().addOperator('p', pass, ['a'], ['x']),
    ],
    [
      'a store that no processor uses',
      'MILL_TOPOLOGY_STORE_NOT_CONNECTED',
      /store s\./,
      () => source().addStateStore(storeSpec('s')).build(),
    ],
    ['a store on a source', 'MILL_TOPOLOGY_INVALID', /the source a/, () => withStore().connectProcessorAndStateStores('a', ['s'])],
    ['a store on a stranger', 'MILL_TOPOLOGY_INVALID', /connected to x/, () => withStore().connectProcessorAndStateStores('x', ['s'])],
    [
      'a global store among the stores of a processor',
      'MILL_TOPOLOGY_INVALID',
      /Global store g/,
      () =>
        source()
          .addGlobalStore(storeSpec('g', { logged: false }), { topic: 'g', sourceName: 'gs', processorName: 'gp' })
          .addOperator('p', pass, ['a'], ['g']),
    ],
    [
      'a global store with a changelog',
      'MILL_TOPOLOGY_INVALID',
      /logged: false/,
      () => source().addGlobalStore(storeSpec('g'), { topic: 'g', sourceName: 'gs', processorName: 'gp' }),
    ],
    ['a source without a topic', 'MILL_TOPOLOGY_INVALID', /no topic/, () => source().addSource('b', { topics: [] })],
    ['a pattern that is none', 'MILL_TOPOLOGY_INVALID', /regular expression/, () => source().addSource('b', { pattern: 'b.*' as never })],
    [
      'a topic that is a number',
      'MILL_TOPOLOGY_INVALID',
      /names of topics, not \[1\]/,
      () => source().addSource('b', { topics: [1 as never] }),
    ],
    [
      'a sink to nothing',
      'MILL_TOPOLOGY_INVALID',
      /Sink s: the topic must be the name/,
      () => source().addSink('s', undefined as never, ['a']),
    ],
    [
      'a node whose name is none',
      'MILL_TOPOLOGY_INVALID',
      /name of a node must be a text/,
      () => source().addSink(undefined as never, 'out', ['a']),
    ],
    ['an empty topic name', 'MILL_TOPOLOGY_INVALID', /the name "" is empty/, () => source().addSource('b', { topics: [''] })],
    ['a sink to an empty topic name', 'MILL_TOPOLOGY_INVALID', /the name "" is empty/, () => source().addSink('s', '', ['a'])],
    ['a node without a name', 'MILL_TOPOLOGY_INVALID', /empty name/, () => source().addSink('', 'out', ['a'])],
    ['a node without a parent', 'MILL_TOPOLOGY_INVALID', /no parent/, () => source().addOperator('p', pass, [])],
    ['a parent that was not added', 'MILL_TOPOLOGY_INVALID', /parent x/, () => source().addSink('s', 'out', ['x'])],
    ['a node as its own parent', 'MILL_TOPOLOGY_INVALID', /its own parent/, () => source().addOperator('p', pass, ['p'])],
    ['a sink as a parent', 'MILL_TOPOLOGY_INVALID', /the sink s/, () => source().addSink('s', 'out', ['a']).addOperator('p', pass, ['s'])],
    ['half a partition', 'MILL_TOPOLOGY_INVALID', /above 0, not 0\.5/, () => source().addRepartitionTopic('r-repartition', 0.5)],
    ['a store name that no topic can have', 'MILL_TOPOLOGY_INVALID', /store name "a b"/, () => source().addStateStore(storeSpec('a b'))],
    [
      'co-partitioning of a node that is no source',
      'MILL_TOPOLOGY_INVALID',
      /x is to be co-partitioned/,
      () => source().copartition(['a', 'x']).build(),
    ],
  ];
  for (const [what, code, message, attempt] of refused) {
    it(what, () => {
      expect(attempt).toThrow(message);
      expect(codeOf(attempt)).toBe(code);
    });
  }
});
