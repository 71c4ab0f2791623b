/** Rows of names: the nodes, stores and internal topics that a topology gets, in the order of `describe()`. */
import { isList, NotBuiltError, number, text, type CaseEntry, type ConformanceCase, type JsonObject } from '../case.js';
import { changelogTopic } from '../../src/topology/task-layout.js';
import type { Topology } from '../../src/topology/nodes.js';
import { buildNamedTopology } from './named-topologies.js';

const applicationId = 'app';

export function namingRow({ value }: CaseEntry): ConformanceCase | null {
  if (!('topology' in value && 'optimization' in value && 'nodes' in value)) return null;
  const [topology, optimization] = [text(value, 'topology'), text(value, 'optimization')];
  return {
    name: `${topology}, optimization ${optimization}`,
    run: async () => {
      const mismatches = compare(buildNamedTopology(topology), value);
      // Without optimisations a topology may still come out as an optimised one would: then the row holds.
      if (mismatches.length > 0 && optimization !== 'none') throw new NotBuiltError('topology optimisation');
      return mismatches;
    },
  };
}

function compare(topology: Topology, row: JsonObject): string[] {
  const description = topology.describe();
  const got: Record<string, readonly string[] | number> = {
    subtopologies: description.match(/Sub-topology: \d+/g)?.length ?? 0,
    nodes: [...description.matchAll(/(?:Source|Processor|Sink): (\S+) /g)].map((match) => match[1] ?? ''),
    internalTopics: [...topology.repartitionTopics.keys()].map((name) => `${applicationId}-${name}`).sort(),
    stores: [...topology.stores.keys(), ...topology.globalStores.keys()].sort(),
    changelogTopics: [...topology.stores.values()]
      .flatMap((store) => (store.sourceTopic === null ? (changelogTopic(applicationId, store) ?? []) : []))
      .sort(),
  };
  const mismatches: string[] = [];
  for (const [field, names] of Object.entries(got)) {
    const wanted = row[field];
    const expected = isList(wanted) ? (field === 'nodes' ? wanted : wanted.toSorted()) : number(row, field);
    if (JSON.stringify(expected) !== JSON.stringify(names))
      mismatches.push(`${field}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(names)}`);
  }
  return mismatches;
}
