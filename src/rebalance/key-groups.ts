/**
 * Key groups: the fixed slices of the key space that state is split and moved by.
 *
 * `keyGroup = toPositive(murmur2(keyBytes)) % maxParallelism`. `maxParallelism` is chosen once for an application: changing it
 * moves every key. Contiguous ranges follow Flink's KeyGroupRangeAssignment.
 */
import { murmur2 } from '../bytes/murmur2.js';
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

/**
 * The key group of a serialised key: `murmur2(keyBytes)` without its sign, modulo `maxParallelism`. Frozen: changing it would move every key.
 *
 * @param keyBytes as the key's serde writes it
 * @throws MILL_CONFIG_INVALID when `maxParallelism` is not a whole number from 1 to 32768, or `keyBytes` no bytes
 */
export function keyGroupOf(keyBytes: Uint8Array, maxParallelism: number): number {
  requireMaxParallelism(maxParallelism);
  if (!(keyBytes instanceof Uint8Array))
    throw new MillraceError('MILL_CONFIG_INVALID', 'keyGroupOf takes the bytes of a key, as its serde writes them.');
  return keyGroup(murmur2(keyBytes), maxParallelism);
}

/**
 * The partition of a keyed topic that holds a key group: the default partitioner's choice whenever `partitions` divides the max parallelism.
 *
 * @throws MILL_CONFIG_INVALID unless `group` is a whole number of at least 0 and `partitions` one of at least 1
 */
export function partitionFor(group: number, partitions: number): number {
  if (Number.isSafeInteger(group) && group >= 0 && Number.isSafeInteger(partitions) && partitions >= 1) return group % partitions;
  throw new MillraceError('MILL_CONFIG_INVALID', `There is no partition for key group ${group} of a topic with ${partitions} partitions.`);
}

/**
 * The contiguous key groups of instance `instance` (from 0) of `instances`: `ceil(i·max/n) … ceil((i+1)·max/n) − 1`.
 *
 * @throws MILL_CONFIG_INVALID when `instances` is not from 1 to `maxParallelism`, `instance` not below it, or `maxParallelism` not from 1 to 32768
 */
export function rangeFor(maxParallelism: number, instances: number, instance: number): KeyGroupRange {
  requireMaxParallelism(maxParallelism);
  if (!Number.isInteger(instances) || instances < 1 || instances > maxParallelism) {
    throw new MillraceError(
      'MILL_CONFIG_INVALID',
      `The parallelism is ${instances}; it must be from 1 to the maxParallelism, ${maxParallelism}: a key group is never split.`,
      { details: { instances, maxParallelism } },
    );
  }
  if (!Number.isInteger(instance) || instance < 0 || instance >= instances)
    throw new MillraceError('MILL_CONFIG_INVALID', `There is no instance ${instance} of ${instances}: they are counted from 0.`);
  return rangeOf(instance, instances, maxParallelism);
}

/** Flink's default when nothing is set: half as much again as the parallelism, as a power of two, from 128 to 32768. */
export function defaultMaxParallelismFor(instances: number): number {
  const wanted = instances + Math.floor(instances / 2);
  let power = 1;
  while (power < wanted) power *= 2;
  return Math.min(Math.max(power, defaultMaxParallelism), upperMaxParallelism);
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
