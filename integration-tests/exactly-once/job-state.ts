import { join } from 'node:path';
import { SerdeDefaults } from '../../src/runtime/serde-defaults.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import { TaskState } from '../../src/stores/task-state.js';
import { TopicTail } from '../faults/topic-tail.js';
import type { JobRun } from '../faults/job-run.js';
import type { Fold } from './fold.js';
import { foldOf } from './job-model.js';
import { jobTopology, stores } from './job-topology.js';

/**
 * Compares, store by store, what the changelog gives when it is replayed into an empty map, what lies on the disk, and the model. `folder` is the state folder
 * of the instance that owned every task last; it must have ended.
 */
export async function stateDifferences(run: JobRun, folder: string): Promise<string[]> {
  const model = run.output.model();
  const faults: string[] = [];
  for (const store of stores) {
    const wanted = store === 'rekeyed-store' ? model.rekeyedState : model.state;
    const replayed = new Map<string, Fold>();
    for (const { key, value } of await new TopicTail(run.port, `${run.applicationId}-${store}-changelog`).poll()) {
      if (key === null) continue;
      if (value === null) replayed.delete(key);
      else replayed.set(key, foldOf(value));
    }
    faults.push(...compare(`changelog of ${store}`, replayed, wanted));
    faults.push(...compare(`${store} on disk`, await onDisk(run, folder, store), wanted));
  }
  return faults.slice(0, 10);
}

async function onDisk(run: JobRun, folder: string, name: (typeof stores)[number]): Promise<Map<string, Fold>> {
  const topology = jobTopology(run.topics, 'everything');
  const subTopology = topology.subTopologies.find((sub) => sub.stores.includes(name));
  const serdes = new SerdeDefaults(null, null);
  const rows = new Map<string, Fold>();
  for (let partition = 0; partition < (run.options.partitions ?? 3); partition++) {
    const taskId = `${subTopology?.id}_${partition}`;
    const state = await TaskState.open({
      taskId,
      directory: join(folder, 'tasks', taskId),
      specs: (subTopology?.stores ?? []).map((store) => topology.stores.get(store)!.spec),
      defaultEngine: 'leveldb',
      serdes: (spec) => serdes.ofStore(spec),
      cacheBytes: 1_000_000,
      logger: silentLogger,
    });
    try {
      const store = state.store(name) as TimestampedKeyValueStore<string, Fold>;
      for await (const [key, { value }] of store.range()) rows.set(key, value);
    } finally {
      await state.close({ clean: false });
    }
  }
  return rows;
}

function compare(what: string, got: ReadonlyMap<string, Fold>, wanted: ReadonlyMap<string, Fold>): string[] {
  const faults: string[] = [];
  for (const key of new Set([...got.keys(), ...wanted.keys()])) {
    const [have, want] = [JSON.stringify(got.get(key)), JSON.stringify(wanted.get(key))];
    if (have !== want) faults.push(`${what}: ${key} is ${have} instead of ${want}`);
  }
  return faults;
}
