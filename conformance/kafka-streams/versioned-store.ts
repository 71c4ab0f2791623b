/** Cases of put, get, getAsOf and delete on a versioned store, and rows of range queries: recognised, so that they are reported by what they need. */
import { NotBuiltError, type CaseEntry, type ConformanceCase } from '../case.js';

export function versionedStoreEntry({ list, index, value }: CaseEntry): ConformanceCase | null {
  if (!('ops' in value) && list !== 'rangeQuery.rows') return null;
  return {
    name: typeof value.name === 'string' ? value.name : `${list}[${index}]`,
    run: () => Promise.reject(new NotBuiltError('versioned store')),
  };
}
