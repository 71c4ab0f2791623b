/** Sub-topologies of random topologies: whatever the graph, each can run alone. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { passThroughOperator } from '../../src/processors/pass-through.js';
import type { Topology } from '../../src/topology/nodes.js';
import { TopologyBuilder } from '../../src/topology/topology-builder.js';
import { storeSpec } from './stores.js';

const pass = passThroughOperator();

/** A node is a source, or hangs under some nodes before it; a store is used by some processors. */
const graphs = fc.record({
  nodes: fc.array(fc.array(fc.nat(30), { maxLength: 3 }), { minLength: 1, maxLength: 25 }),
  stores: fc.array(fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }), { maxLength: 5 }),
});

function build({ nodes, stores }: { nodes: number[][]; stores: number[][] }): Topology {
  const builder = new TopologyBuilder();
  const processors: string[] = [];
  nodes.forEach((parents, index) => {
    const name = `n${index}`;
    if (index === 0 || parents.length === 0) builder.addSource(name, { topics: [`t${index}`] });
    else {
      builder.addOperator(name, pass, [...new Set(parents.map((parent) => `n${parent % index}`))]);
      processors.push(name);
    }
  });
  stores.forEach((users, index) => {
    if (processors.length === 0) return;
    builder.addStateStore(storeSpec(`s${index}`), { processors: users.map((user) => processors[user % processors.length]!) });
  });
  return builder.build();
}

describe('sub-topologies', () => {
  it('hold each node once, and all neighbours and stores of their nodes', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const topology = build(graph);
        const owner = new Map<string, number>();
        for (const sub of topology.subTopologies) {
          for (const name of sub.nodes) {
            expect(owner.has(name)).toBe(false);
            owner.set(name, sub.id);
          }
        }
        expect(owner.size).toBe(topology.nodes.size);
        for (const node of topology.nodes.values()) {
          if (node.kind === 'source') continue;
          for (const parent of node.parents) expect(owner.get(parent)).toBe(owner.get(node.name));
        }
        for (const store of topology.stores.values()) expect(new Set(store.processors.map((name) => owner.get(name))).size).toBe(1);
      }),
    );
  });

  it('have parents before children, are numbered by their first node, and have a source each', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const topology = build(graph);
        const order = [...topology.nodes.keys()];
        const firsts = topology.subTopologies.map(({ nodes }) => order.indexOf(nodes[0]!));
        expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
        expect(topology.subTopologies.map(({ id }) => id)).toEqual(firsts.map((_, id) => id));
        for (const { nodes, sourceTopics } of topology.subTopologies) {
          expect(sourceTopics.length).toBeGreaterThan(0);
          for (const name of nodes) {
            const node = topology.nodes.get(name)!;
            if (node.kind !== 'source') for (const parent of node.parents) expect(nodes.indexOf(parent)).toBeLessThan(nodes.indexOf(name));
          }
        }
      }),
    );
  });
});
