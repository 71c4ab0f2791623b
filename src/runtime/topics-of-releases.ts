import { MillraceError } from '../errors.js';
import type { KafkaPort } from '../kafka/port.js';
import type { Release } from '../rebalance/releases/release.js';
import type { TopicsNow } from '../rebalance/releases/release-mix.js';
import { isReadablePattern, releasePatternMatches } from './release-of.js';

/**
 * The topics that the sub-topologies of all these releases read, as they are now.
 *
 * @throws MILL_TOPIC_MISSING
 */
export async function readTopicsOf(port: Pick<KafkaPort, 'metadata'>, releases: readonly Release[]): Promise<TopicsNow> {
  const shapes = releases.flatMap((release) => release.shapes);
  const names = [...new Set(shapes.flatMap(({ topics }) => topics))].sort();
  const metadata = await port.metadata(shapes.some(({ patterns }) => patterns.length > 0) ? 'all' : names, { refresh: true });
  const present = [...metadata.topics.values()].filter(({ errorCode }) => errorCode === 0);
  const counts = new Map(present.map(({ name, partitions }) => [name, partitions.length]));
  const missing = names.filter((topic) => !counts.has(topic));
  if (missing.length > 0)
    throw new MillraceError('MILL_TOPIC_MISSING', `source topic(s) ${missing.join(', ')} do not exist`, { details: { topics: missing } });
  const external = present.flatMap(({ name, isInternal }) => (isInternal ? [] : [name])).sort();
  return {
    partitions: (topic) => counts.get(topic) ?? null,
    // One that this Node.js can't read may match anything: only members that are refused name such a pattern, and what they claim must not begin elsewhere.
    matching: (pattern) => (isReadablePattern(pattern) ? external.filter((topic) => releasePatternMatches(pattern, topic)) : external),
  };
}
