/**
 * Key groups: the fixed slices of the key space that state is split and moved by.
 *
 * `keyGroup = toPositive(murmur2(keyBytes)) % maxParallelism`. `maxParallelism` is chosen once for an application: changing it
 * moves every key. Contiguous ranges follow Flink's KeyGroupRangeAssignment.
 */
import { MillraceError } from '../errors.js';

export const defaultMaxParallelism = 128;
export const upperMaxParallelism = 32_768;

/** Both ends inclusive; `end < start` is an empty range (more instances than key groups). */
export interface KeyGroupRange {
  readonly start: number;
  readonly end: number;
}

/** The key group of a key, given `murmur2` of its bytes (a signed 32-bit integer). */
export function keyGroup(keyHash: number, maxParallelism: number): number {
  return (keyHash & 0x7fff_ffff) % maxParallelism;
}

/** The contiguous range of instance `instance` (from 0) of `instances`: `ceil(i·max/n) … ceil((i+1)·max/n) − 1`. */
export function rangeOf(instance: number, instances: number, maxParallelism: number): KeyGroupRange {
  requireMaxParallelism(maxParallelism);
  if (!Number.isInteger(instances) || instances < 1 || !Number.isInteger(instance) || instance < 0 || instance >= instances) {
    throw new MillraceError('MILL_INVARIANT', `There is no instance ${instance} of ${instances}.`);
  }
  return {
    start: Math.ceil((instance * maxParallelism) / instances),
    end: Math.ceil(((instance + 1) * maxParallelism) / instances) - 1,
  };
}

/** The instance whose `rangeOf` holds the key group: `floor(group·n/max)`. */
export function instanceOf(group: number, instances: number, maxParallelism: number): number {
  return Math.floor((group * instances) / maxParallelism);
}

/** The key groups of one partition of a keyed topic: `{kg : kg % partitions = partition}`, where Java's default partitioner puts them. */
export function keyGroupsOfPartition(partition: number, partitions: number, maxParallelism: number): readonly number[] {
  const groups: number[] = [];
  for (let group = partition; group < maxParallelism; group += partitions) groups.push(group);
  return groups;
}

function requireMaxParallelism(maxParallelism: number): void {
  if (Number.isInteger(maxParallelism) && maxParallelism >= 1 && maxParallelism <= upperMaxParallelism) return;
  throw new MillraceError(
    'MILL_CONFIG_INVALID',
    `maxParallelism is ${maxParallelism}; it must be an integer from 1 to ${upperMaxParallelism}.`,
  );
}
