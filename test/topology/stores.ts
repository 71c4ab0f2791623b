import type { StoreSpec } from '../../src/stores/store.js';

/** A logged key-value store. */
export function storeSpec(name: string, changes: Partial<StoreSpec> = {}): StoreSpec {
  return { name, kind: 'keyValue', keySerde: null, valueSerde: null, engine: null, logged: true, changelogConfigs: {}, ...changes };
}
