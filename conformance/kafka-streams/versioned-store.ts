/** Cases of put, get, getAsOf and delete on a versioned store, and rows of range queries. They run the store itself, in memory. */
import { silentLogger } from '../../src/observability/logger.js';
import { compileSerde } from '../../src/serdes/compile-serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { versionedStore } from '../../src/stores/list-store-builders.js';
import type { VersionedKeyValueStore, VersionedRecord } from '../../src/stores/store.js';
import { TaskState } from '../../src/stores/task-state.js';
import { list, number, object, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';

type Store = VersionedKeyValueStore<string, string>;

/** What the range rows are asked of when their file does not say: the store of the Java test. */
const defaultStore = { historyRetentionMs: 300_000, segmentIntervalMs: 100_000 };

export function versionedStoreEntry({ list: where, index, value }: CaseEntry): ConformanceCase | null {
  if (where === 'rangeQuery.rows') {
    return { name: `range ${JSON.stringify([value.from, value.to])}`, run: () => runRange(value) };
  }
  if (!('ops' in value)) return null;
  return { name: typeof value.name === 'string' ? value.name : `${where}[${index}]`, run: () => runOperations(value) };
}

async function runOperations(value: JsonObject): Promise<string[]> {
  const faults: string[] = [];
  await withStore(object(value, 'store'), (store) => {
    (list(value, 'ops') as readonly JsonObject[]).forEach((op, i) => {
      const fault = runOperation(store, op);
      if (fault !== null) faults.push(`op ${i + 1} ${JSON.stringify(op)}: ${fault}`);
    });
  });
  return faults;
}

function runOperation(store: Store, op: JsonObject): string | null {
  const key = text(op, 'key');
  switch (op.op) {
    case 'put':
      return compare(Number(op.returnsValidTo), putResult(store.put(key, valueOf(op), number(op, 'ts'))));
    case 'get':
      return compareRecord(op.returns, store.get(key));
    case 'getAsOf':
      return compareRecord(op.returns, store.getAsOf(key, number(op, 'asOf')));
    case 'delete':
      return compareRecord(op.returns, store.delete(key, number(op, 'ts')));
    default:
      return `unknown operation ${JSON.stringify(op.op)}`;
  }
}

/** The row has what its list shares: the puts. */
async function runRange(row: JsonObject): Promise<string[]> {
  const faults: string[] = [];
  await withStore('store' in row ? object(row, 'store') : defaultStore, (store) => {
    for (const [key, value, timestamp] of list(row, 'puts') as readonly (readonly [string, string | null, number])[]) {
      store.put(key, value, timestamp);
    }
    const key = typeof row.key === 'string' ? row.key : ((list(row, 'puts') as readonly (readonly [string])[])[0]?.[0] ?? '');
    const found = store.getRange(key, bound(row.from, -Infinity), bound(row.to, Infinity));
    const descending = found.map((record) => [record.value, record.timestamp, record.validTo]);
    push(faults, compare(row.returns, descending));
    const ascending = store.getRange(key, bound(row.from, -Infinity), bound(row.to, Infinity), { ascending: true });
    push(
      faults,
      compare(
        descending.slice().reverse(),
        ascending.map((record) => [record.value, record.timestamp, record.validTo]),
      ),
    );
  });
  return faults;
}

async function withStore(options: JsonObject, use: (store: Store) => void): Promise<void> {
  const state = await TaskState.open({
    taskId: '0_0',
    directory: null,
    specs: [
      versionedStore({
        name: 'versioned',
        historyRetention: number(options, 'historyRetentionMs'),
        ...('segmentIntervalMs' in options ? { segmentInterval: number(options, 'segmentIntervalMs') } : {}),
      }),
    ],
    defaultEngine: 'memory',
    serdes: () => ({ key: compileSerde(serdes.string), value: compileSerde(serdes.string) }),
    cacheBytes: 0,
    logger: silentLogger,
  });
  try {
    use(state.store('versioned') as Store);
  } finally {
    await state.close({ clean: false });
  }
}

/** The numbers of Kafka Streams' `put`: -1 for the latest version, the least long for a rejected one. */
function putResult(result: number | null | 'rejected'): number {
  if (result === 'rejected') return Number(-(2n ** 63n));
  return result ?? -1;
}

function compareRecord(expected: Json | undefined, found: VersionedRecord<string> | null): string | null {
  if (found === null || expected === null || typeof expected !== 'object') return compare(expected ?? null, found);
  const { value, ts, validTo, validToUnchecked } = expected as JsonObject;
  const end = validToUnchecked === true ? validTo : found.validTo;
  return compare({ value, ts, validTo }, { value: found.value, ts: found.timestamp, validTo: end });
}

function compare(expected: unknown, found: unknown): string | null {
  const [wanted, got] = [JSON.stringify(expected), JSON.stringify(found)];
  return wanted === got ? null : `expected ${wanted}, got ${got}`;
}

function valueOf(op: JsonObject): string | null {
  return typeof op.value === 'string' ? op.value : null;
}

function bound(value: Json | undefined, open: number): number {
  return typeof value === 'number' ? value : open;
}

function push(faults: string[], fault: string | null): void {
  if (fault !== null) faults.push(fault);
}
