import { backoffMs, delay } from '../kafka/backoff.js';
import type { KafkaPort } from '../kafka/port.js';
import type { Release } from '../rebalance/releases/release.js';
import type { TopicsNow } from '../rebalance/releases/release-mix.js';
import { isReadablePattern, releasePatternMatches } from './release-of.js';

/** Topics that a member has just made are known to it, and soon to every broker. */
const looks = 4;
const lookPause = { initialMs: 200, maxMs: 1000 };

/** The topics that the sub-topologies of all these releases read, as they are now. One that is missing is looked for again for about a second. */
export async function readTopicsOf(port: Pick<KafkaPort, 'metadata'>, releases: readonly Release[]): Promise<TopicsNow> {
  for (let look = 1; ; look++) {
    const topics = await readTopics(port, releases);
    if (look === looks || releases.every((release) => missingTopics(release, topics).length === 0)) return topics;
    await delay(backoffMs(look, lookPause, Math.random));
  }
}

/** Topics that the release reads and that are not there, or that this instance may not describe. */
export function missingTopics({ shapes }: Release, { partitions }: TopicsNow): string[] {
  return [...new Set(shapes.flatMap(({ topics }) => topics))].filter((topic) => partitions(topic) === null).sort();
}

async function readTopics(port: Pick<KafkaPort, 'metadata'>, releases: readonly Release[]): Promise<TopicsNow> {
  const shapes = releases.flatMap((release) => release.shapes);
  const names = [...new Set(shapes.flatMap(({ topics }) => topics))].sort();
  const metadata = await port.metadata(shapes.some(({ patterns }) => patterns.length > 0) ? 'all' : names, { refresh: true });
  const present = [...metadata.topics.values()].filter(({ errorCode }) => errorCode === 0);
  const counts = new Map(present.map(({ name, partitions }) => [name, partitions.length]));
  const external = present.flatMap(({ name, isInternal }) => (isInternal ? [] : [name])).sort();
  return {
    partitions: (topic) => counts.get(topic) ?? null,
    // One that this Node.js can't read may match anything: only members that are refused name such a pattern, and what they claim must not begin elsewhere.
    matching: (pattern) => (isReadablePattern(pattern) ? external.filter((topic) => releasePatternMatches(pattern, topic)) : external),
  };
}
