/** Whether a store goes on with what the engine has of it, and with the changelog that it was at. */
import type { Engine } from './engine/engine.js';
import type { ChangelogIdentity, EngineMeta, StoreMeta } from './engine-meta.js';
import { layoutOf } from './segment-interval.js';
import type { StoreSpec } from './store.js';

/**
 * Compaction takes tombstones away after `delete.retention.ms`, 24 h by default: a store that was away longer would keep rows that were deleted meanwhile.
 */
const longestAwayMs = 23 * 60 * 60 * 1000;

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

/** Why a store can't go on from its position: that is of another changelog, or was noted too long ago. null: it can. */
export function whyUseless(known: ChangelogIdentity | null, found: ChangelogIdentity, notedAt: number | null, now: number): string | null {
  if (known !== null && !isSame(known, found)) return 'the changelog is another one';
  if (notedAt !== null && now - notedAt > longestAwayMs)
    return 'the store was away so long that deletions may be missing from its changelog';
  return null;
}

/** Ids that are not known on one side don't differ. */
function isSame(known: ChangelogIdentity, found: ChangelogIdentity): boolean {
  if (known.topic !== found.topic) return false;
  if (known.topicId !== null && found.topicId !== null && known.topicId !== found.topicId) return false;
  return known.clusterId === null || found.clusterId === null || known.clusterId === found.clusterId;
}
