/** What the pure functions of this folder ask about the cluster. */
import type { TopicRef } from './nodes.js';

/** How many partitions a topic has, or null when that is not known (it does not exist, or is yet to be created). */
export type PartitionCountOf = (topic: TopicRef) => number | null;

/** The topics that a source with a pattern reads. */
export type TopicsMatching = (pattern: RegExp) => readonly string[];

export const noTopicMatches: TopicsMatching = () => [];
