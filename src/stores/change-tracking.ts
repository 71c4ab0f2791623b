import type { StoreSpec } from './store.js';

/** Nobody drains the changes of a store whose operator emits at once: a list of them would only grow. */
export function withTracking(spec: StoreSpec, emitsOnCommit: boolean): StoreSpec {
  return spec.trackChanges === 'ifEmittingOnCommit' ? { ...spec, trackChanges: emitsOnCommit } : spec;
}
