/**
 * What stands for topics in calls, checked where the call stands: plain JavaScript gives anything, and a name that Kafka does not allow can be neither created nor found later.
 *
 * Names are looked at here when they stand in the program; those that functions give, record by record, where they are given.
 */
import { types } from 'node:util';
import { requireArgument, text } from '../errors/checked-options.js';
import { nameFault } from './resource-name.js';
import { invalidTopology } from './topology-errors.js';

/**
 * @param what the call and its argument, as in `table: the topic`
 * @throws MILL_TOPOLOGY_INVALID unless it is a topic's name
 */
export function requireTopic(what: string, topic: unknown): void {
  requireArgument(what, topic, text);
  requireName(what, String(topic));
}

/** @throws MILL_TOPOLOGY_INVALID unless it is a topic's name, an array of them, or a pattern */
export function requireTopics(what: string, topics: unknown): void {
  requireArgument(what, topics, nameOrNamesOrPattern);
  if (typeof topics === 'string') requireName(what, topics);
  else if (Array.isArray(topics)) requireTopicList(what, topics);
}

/** @throws MILL_TOPOLOGY_INVALID unless it is an array of topics' names, which is not empty */
export function requireTopicList(what: string, topics: unknown): void {
  requireArgument(what, topics, names);
  if (!Array.isArray(topics)) return;
  if (topics.length === 0) throw invalidTopology(`${what}: there is no topic.`, {});
  for (const topic of topics) requireName(what, String(topic));
}

/** @throws MILL_TOPOLOGY_INVALID unless it is a topic's name, or a function that gives one for each record */
export function requireTopicOrFunction(what: string, topic: unknown): void {
  requireArgument(what, topic, nameOrFunction);
  if (typeof topic === 'string') requireName(what, topic);
}

/** @throws MILL_TOPOLOGY_INVALID */
export function requirePattern(what: string, pattern: unknown): void {
  requireArgument(what, pattern, (value) => (types.isRegExp(value) ? null : 'a regular expression'));
}

/** The check of an option that is a topic's name. */
export function topicName(value: unknown): string | null {
  const fits = typeof value === 'string' && nameFault(value) === null;
  return fits ? null : 'the name of a topic, 1 to 249 ASCII letters, digits, ".", "_" or "-"';
}

function requireName(what: string, topic: string): void {
  const fault = nameFault(topic);
  if (fault !== null) throw invalidTopology(`${what}: the name "${topic}" ${fault}. Kafka has no such topics.`, { topic });
}

function nameOrNamesOrPattern(value: unknown): string | null {
  const fits = typeof value === 'string' || types.isRegExp(value) || names(value) === null;
  return fits ? null : 'the name of a topic, an array of names or a regular expression';
}

function names(value: unknown): string | null {
  return Array.isArray(value) && value.every((name) => typeof name === 'string') ? null : 'an array of names of topics';
}

function nameOrFunction(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'function' ? null : 'the name of a topic, or a function that gives one';
}
