/**
 * The partition count of keyed state is fixed for its life, as Flink's max parallelism is: the partition of a key is its hash modulo the count, so with another count keys are looked
 * for where their rows are not. The changelog says what the count was.
 */
import { MillraceError } from '../errors.js';
import { qualifiedName, type TaskLayout } from './task-layout.js';
import type { Topology, TopicRef } from './nodes.js';

/**
 * @param countOf for changelogs and for what the tasks read; topics for which it says null are left out
 * @throws MILL_TOPIC_INCOMPATIBLE with both counts and the way out
 */
export function checkStatePartitions(
  topology: Topology,
  applicationId: string,
  layout: TaskLayout,
  countOf: (topic: string) => number | null,
): void {
  const needed = new Map<string, { readonly store: string; readonly subTopology: number; count: number }>();
  for (const task of layout.tasks) {
    for (const { store, topic, isSourceTopic } of layout.changelogPartitions(task)) {
      if (isSourceTopic) continue;
      const known = needed.get(topic);
      if (known === undefined) needed.set(topic, { store, subTopology: task.subTopology, count: task.partition + 1 });
      else known.count = Math.max(known.count, task.partition + 1);
    }
  }
  for (const [topic, { store, subTopology, count }] of needed) {
    const actual = countOf(topic);
    if (actual === null || actual === count) continue;
    const inputs = topology.subTopologies.find(({ id }) => id === subTopology)?.sourceTopics ?? [];
    throw changed(topic, store, actual, count, inputsWith(count, inputs, applicationId, countOf));
  }
}

/** The inputs that make the count. */
function inputsWith(
  count: number,
  inputs: readonly TopicRef[],
  applicationId: string,
  countOf: (topic: string) => number | null,
): string[] {
  const names = inputs.map((input) => qualifiedName(applicationId, input));
  const those = names.filter((name) => countOf(name) === count);
  return those.length > 0 ? those : names;
}

function changed(changelog: string, store: string, actual: number, needed: number, inputs: readonly string[]): MillraceError {
  const now = `${inputs.length === 0 ? 'its input' : inputs.join(', ')} ${inputs.length > 1 ? 'have' : 'has'} ${needed} now`;
  return new MillraceError(
    'MILL_TOPIC_INCOMPATIBLE',
    `store ${store} was made with ${actual} partition(s) (${changelog}), but ${now}: with another count its keys would be looked for where their rows are not. ` +
      `Give the app input of ${actual} partition(s) again (a new topic, or \`.repartition({ name, partitions: ${actual} })\` before the state), or begin anew: under another applicationId, or with the app’s internal topics, group and state directories deleted`,
    { details: { topic: changelog, store, actual, needed, inputs } },
  );
}
