import type { JobVariant } from '../../integration-tests/exactly-once/job-topology.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';

/** What a schedule is about, besides its faults. */
export interface Variant {
  readonly job: Exclude<JobVariant, 'mapOnly'>;
  /** Copies of state in every schedule. */
  readonly standbys: boolean;
  /** Each process that starts has one of several releases of the topology. */
  readonly releases: boolean;
  /** Who places the tasks. */
  readonly protocol: 'classic' | 'streams';
}

export const plainVariant: Variant = { job: 'everything', standbys: false, releases: false, protocol: 'classic' };

/** The variant that a seed has when the command names none: all of them come up, the plain one most. */
export function drawVariant(seed: number): Variant {
  const random = new Random(seed ^ 0x7a_71e7);
  const job = random.pick(['everything', 'everything', 'everything', 'everything', 'everything', 'everything', 'joins', 'async'] as const);
  const standbys = random.chance(0.2);
  const protocol = random.chance(0.25) ? 'streams' : 'classic';
  // A streams group has one topology for good.
  const releases = job === 'everything' && protocol === 'classic' && random.chance(0.25);
  return { job, standbys, releases, protocol };
}

/** The variant as arguments of `npm run simulate`, so that a seed runs again with it. */
export function variantArguments({ job, standbys, releases, protocol }: Variant): string {
  return `--job ${job}${standbys ? ' --standbys' : ''}${releases ? ' --releases' : ''}${protocol === 'streams' ? ' --protocol streams' : ''}`;
}
