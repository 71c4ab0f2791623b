/** Whether a store goes on with what the engine has of it, and with the changelog that it was at. */
import type { Engine } from './engine/engine.js';
import type { ChangelogIdentity, EngineMeta, StoreMeta } from './engine-meta.js';
import { layoutOf } from './segment-interval.js';
import type { StoreSpec } from './store.js';

/** A task without a directory has all its stores in memory, whatever the specs say. */
export function engineOf(
  spec: StoreSpec,
  options: { readonly directory: string | null; readonly defaultEngine: 'memory' | 'leveldb' },
): 'memory' | 'leveldb' {
  return options.directory === null ? 'memory' : (spec.engine ?? options.defaultEngine);
}

/** Whether some of the stores are in a database. */
export function isPersistent(options: {
  readonly specs: readonly StoreSpec[];
  readonly directory: string | null;
  readonly defaultEngine: 'memory' | 'leveldb';
}): boolean {
  return options.specs.some((spec) => engineOf(spec, options) === 'leveldb');
}

/** A store that was built in another way is started over; one without a changelog goes on only after a clean end, since nothing could catch it up. */
export function usable(
  known: StoreMeta | undefined,
  spec: StoreSpec,
  engine: Engine | null,
  meta: EngineMeta | null,
): StoreMeta | undefined {
  if (known === undefined || engine === null || known.kind !== spec.kind || (known.layout ?? '') !== layoutOf(spec)) return undefined;
  if (!spec.logged && meta?.clean !== true) return undefined;
  return known;
}

/** Ids that are not known on one side don't differ. */
export function sameChangelog(known: ChangelogIdentity, found: ChangelogIdentity): boolean {
  if (known.topic !== found.topic) return false;
  if (known.topicId !== null && found.topicId !== null && known.topicId !== found.topicId) return false;
  return known.clusterId === null || found.clusterId === null || known.clusterId === found.clusterId;
}
