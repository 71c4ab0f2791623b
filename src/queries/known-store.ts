/** The stores of a topology by name, and why a partition of one is not among those that were read. */
import { MillraceError } from '../errors.js';
import type { StoreSpec } from '../stores/store.js';
import type { Topology } from '../topology/nodes.js';
import type { PartitionFailure } from './state-query.js';

/** A store of the topology, and where it is. */
export interface KnownStore {
  readonly spec: StoreSpec;
  /** null: every instance has it whole. */
  readonly subTopology: number | null;
}

/** What an instance has of a store, read or not. */
export interface LocalPartitions {
  /** Those that the group gave to this instance, running or not. */
  readonly owned: readonly number[];
  /** How many the store has; null: not known yet. */
  readonly count: number | null;
}

/** @throws MILL_TOPOLOGY_UNKNOWN_STORE */
export function knownStore(topology: Topology, name: string): KnownStore {
  const global = topology.globalStores.get(name);
  if (global !== undefined) return { spec: global.spec, subTopology: null };
  const store = topology.stores.get(name);
  const owner = topology.subTopologies.find(({ stores }) => stores.includes(name));
  if (store !== undefined && owner !== undefined) return { spec: store.spec, subTopology: owner.id };
  const names = [...topology.stores.keys(), ...topology.globalStores.keys()].join(', ') || 'none';
  throw new MillraceError('MILL_TOPOLOGY_UNKNOWN_STORE', `There is no store ${name}; the topology has: ${names}.`, {
    details: { store: name },
  });
}

/** Of a partition of which nothing was found here. */
export function absence({ spec, subTopology }: KnownStore, partition: number, { owned, count }: LocalPartitions): PartitionFailure {
  const known = subTopology === null ? 1 : count;
  if (!Number.isSafeInteger(partition) || partition < 0 || (known !== null && partition >= known)) {
    return {
      ok: false,
      partition,
      reason: 'doesNotExist',
      message: `Store ${spec.name} has no partition ${partition}${known === null ? '' : `: it has ${known}, numbered from 0`}.`,
    };
  }
  return subTopology === null || owned.includes(partition)
    ? { ok: false, partition, reason: 'notActive', message: `Partition ${partition} of store ${spec.name} is being opened here.` }
    : { ok: false, partition, reason: 'notPresent', message: `Partition ${partition} of store ${spec.name} is on another instance.` };
}
