/** Rows of names: the nodes, stores and internal topics that a topology gets, in the order of `describe()`. */
import { isList, number, text, type CaseEntry, type ConformanceCase, type JsonObject } from '../case.js';
import { changelogTopic } from '../../src/topology/task-layout.js';
import type { StoreNode, Topology } from '../../src/topology/nodes.js';
import { buildNamedTopology } from './named-topologies.js';

const applicationId = 'app';
const all = ['singleStoreSelfJoin', 'mergeRepartitions', 'reuseSourceTopics'] as const;

export function namingRow({ value }: CaseEntry): ConformanceCase | null {
  if (!('topology' in value && 'optimization' in value && 'nodes' in value)) return null;
  const [topology, optimization] = [text(value, 'topology'), text(value, 'optimization')];
  return {
    name: `${topology}, optimization ${optimization}`,
    run: async () => compare(buildNamedTopology(topology, optimization === 'all' ? all : []), value),
  };
}

function changelogOf(store: StoreNode, listsUncreated: boolean): string | null {
  if (store.sourceTopic === null) return changelogTopic(applicationId, store);
  return listsUncreated ? changelogTopic(applicationId, { ...store, sourceTopic: null }) : null;
}

function compare(topology: Topology, row: JsonObject): string[] {
  const description = topology.describe();
  // Some rows list the changelogs of source tables with a note that they are not created.
  const listsUncreated = typeof row.note === 'string' && row.note.includes('not created');
  const got: Record<string, readonly string[] | number> = {
    subtopologies: description.match(/Sub-topology: \d+/g)?.length ?? 0,
    nodes: [...description.matchAll(/(?:Source|Processor|Sink): (\S+) /g)].map((match) => match[1] ?? ''),
    internalTopics: [...topology.repartitionTopics.keys()].map((name) => `${applicationId}-${name}`).sort(),
    stores: [...topology.stores.keys(), ...topology.globalStores.keys()].sort(),
    changelogTopics: [...topology.stores.values()].flatMap((store) => changelogOf(store, listsUncreated) ?? []).sort(),
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
