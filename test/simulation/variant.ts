import type { JobVariant } from '../../integration-tests/exactly-once/job-topology.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';

/** What a schedule is about, besides its faults. */
export interface Variant {
  readonly job: Exclude<JobVariant, 'mapOnly'>;
  /** Copies of state in every schedule. */
  readonly standbys: boolean;
  /** Each process that starts has one of several releases of the topology. */
  readonly releases: boolean;
}

export const plainVariant: Variant = { job: 'everything', standbys: false, releases: false };

/** The variant that a seed has when the command names none: all of them come up, the plain one most. */
export function drawVariant(seed: number): Variant {
  const random = new Random(seed ^ 0x7a_71e7);
  const job = random.pick(['everything', 'everything', 'everything', 'everything', 'everything', 'everything', 'joins', 'async'] as const);
  return { job, standbys: random.chance(0.2), releases: job === 'everything' && random.chance(0.2) };
}

/** The variant as arguments of `npm run simulate`, so that a seed runs again with it. */
export function variantArguments({ job, standbys, releases }: Variant): string {
  return `--job ${job}${standbys ? ' --standbys' : ''}${releases ? ' --releases' : ''}`;
}
