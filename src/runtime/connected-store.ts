import { MillraceError } from '../errors.js';
import type { StateStore } from '../stores/store.js';
import type { TaskOptions } from './task-options.js';

/** A store of the task, or a global one, for a node that says it uses it. Throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_TOPOLOGY_STORE_NOT_CONNECTED or MILL_STORE_CLOSED. */
export function connectedStore({ id, topology, store: open }: TaskOptions, node: string, name: string): StateStore {
  const declared = topology.stores.get(name);
  const global = topology.globalStores.has(name);
  if (declared === undefined && !global)
    throw new MillraceError('MILL_TOPOLOGY_UNKNOWN_STORE', `${node} asks for store ${name}, which the topology does not have`);
  if (declared !== undefined && !declared.processors.includes(node)) {
    throw new MillraceError('MILL_TOPOLOGY_STORE_NOT_CONNECTED', `${node} asks for store ${name}, which is not connected to it`);
  }
  const store = open(name);
  if (store === undefined) throw new MillraceError('MILL_STORE_CLOSED', `store ${name} of task ${id} is not open`);
  return store;
}
