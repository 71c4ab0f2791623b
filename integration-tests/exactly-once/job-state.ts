import { join } from 'node:path';
import { silentLogger } from '../../src/observability/logger.js';
import { SerdeDefaults } from '../../src/runtime/serde-defaults.js';
import type { StateStore, TimestampedKeyValueStore, TimestampedWindowStore } from '../../src/stores/store.js';
import { TaskState } from '../../src/stores/task-state.js';
import type { JobRun } from '../faults/job-run.js';
import { TopicTail } from '../faults/topic-tail.js';
import type { Difference } from './difference.js';
import type { Fold } from './fold.js';
import { foldOf } from './job-model.js';
import { jobTopology, windowName } from './job-topology.js';

type Rows = ReadonlyMap<string, unknown>;

interface CheckedStore {
  readonly name: string;
  readonly wanted: Rows;
  readonly decode: (value: Buffer) => unknown;
}

const windowStore = 'onUpdate-windows-store';

/**
 * Compares, store by store, what the changelog gives when it is replayed into an empty map, what lies on the disk, and the model. `folder` is the state folder
 * of the instance that owned every task last; it must have ended.
 */
export async function stateDifferences(run: JobRun, folder: string): Promise<Difference[]> {
  const variant = run.options.variant ?? 'everything';
  if (variant !== 'everything' && variant !== 'joins') throw new Error(`nothing is known of the stores of ${variant}`);
  const model = run.output.model();
  const folds = { decode: foldOf };
  const stores: CheckedStore[] = [
    { name: 'updates-store', wanted: model.state, ...folds },
    { name: 'commits-store', wanted: model.state, ...folds },
    { name: 'rekeyed-store', wanted: model.rekeyedState, ...folds },
  ];
  if (variant === 'joins')
    stores.push({ name: 'rows-store', wanted: run.output.joinModel().rows, decode: (value) => value.readInt32BE(0) });
  const found: Difference[] = [];
  for (const { name, wanted, decode } of stores) {
    const replayed = new Map<string, unknown>();
    for (const { key, value } of await new TopicTail(run.port, `${run.applicationId}-${name}-changelog`).poll()) {
      if (key === null) continue;
      if (value === null) replayed.delete(key);
      else replayed.set(key, decode(value));
    }
    found.push(...compare(`changelog of ${name}`, replayed, wanted));
    const onDisk = new Map<string, unknown>();
    await eachStore(run, folder, name, async (store) => {
      const rows = store as TimestampedKeyValueStore<string, unknown>;
      for await (const [key, { value }] of rows.range()) onDisk.set(key, value);
    });
    found.push(...compare(`${name} on disk`, onDisk, wanted));
  }
  found.push(...(await windowDifferences(run, folder)));
  return found;
}

/** Every row of the window store is the model's, and none is missing of those that are still to be kept. */
async function windowDifferences(run: JobRun, folder: string): Promise<Difference[]> {
  const model = run.output.model();
  const [got, wanted] = [new Map<string, unknown>(), new Map<string, unknown>()];
  const starts = new Map<string, number>([...model.windows.keys()].map((name) => [name, Number(name.slice(name.lastIndexOf('@') + 1))]));
  const partitionOf = new Map(run.output.input.records.map(({ key, partition }) => [key ?? '', partition]));
  await eachStore(run, folder, windowStore, async (store, partition) => {
    const rows = store as TimestampedWindowStore<string, Fold>;
    for await (const [key, start, { value }] of rows.fetchAll(0, Number.MAX_SAFE_INTEGER)) got.set(windowName(key, start), value);
    const mine = [...starts].filter(([name]) => partitionOf.get(name.slice(0, name.lastIndexOf('@'))) === partition);
    const newest = mine.reduce((highest, [, start]) => Math.max(highest, start), 0);
    for (const [name, start] of mine)
      if (got.has(name) || start > newest - rows.retention) wanted.set(name, model.windows.get(name)?.at(-1));
  });
  return compare(`${windowStore} on disk`, got, wanted);
}

/** Opens a store in each of its tasks, one after the other. */
async function eachStore(
  run: JobRun,
  folder: string,
  name: string,
  look: (store: StateStore, partition: number) => Promise<void>,
): Promise<void> {
  const topology = jobTopology(run.topics, run.options.variant === 'joins' ? 'joins' : 'everything');
  const subTopology = topology.subTopologies.find((sub) => sub.stores.includes(name));
  const serdes = new SerdeDefaults(null, null);
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
      await look(state.store(name), partition);
    } finally {
      await state.close({ clean: false });
    }
  }
}

function compare(what: string, got: Rows, wanted: Rows): Difference[] {
  const found: Difference[] = [];
  for (const key of new Set([...got.keys(), ...wanted.keys()])) {
    const [have, want] = [JSON.stringify(got.get(key)), JSON.stringify(wanted.get(key))];
    if (have === want) continue;
    const isLost = !got.has(key);
    found.push({ lost: isLost ? 1 : 0, doubled: 0, different: isLost ? 0 : 1, text: `${what}: ${key} is ${have} instead of ${want}` });
  }
  return found;
}
