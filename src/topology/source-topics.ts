/** Which source reads which topic. A topic has one source: two would share its committed offset. */
import { MillraceError } from '../errors.js';
import { topicPatternMatches } from './topic-pattern.js';

export class SourceTopics {
  readonly #topics = new Map<string, string>();
  readonly #patterns: { readonly pattern: RegExp; readonly source: string }[] = [];

  /** @throws MILL_TOPOLOGY_DUPLICATE_NAME when another source reads the topic, by name or by pattern. */
  claim(topic: string, source: string): void {
    const other = this.#topics.get(topic) ?? this.#patterns.find(({ pattern }) => topicPatternMatches(pattern, topic))?.source;
    if (other !== undefined) throw readTwice(topic, other, source);
    this.#topics.set(topic, source);
  }

  /** @throws MILL_TOPOLOGY_DUPLICATE_NAME when another source reads a topic that the pattern matches. */
  claimPattern(pattern: RegExp, source: string): void {
    for (const [topic, other] of this.#topics) if (topicPatternMatches(pattern, topic)) throw readTwice(topic, other, source);
    this.#patterns.push({ pattern, source });
  }
}

function readTwice(topic: string, first: string, second: string): MillraceError {
  return new MillraceError(
    'MILL_TOPOLOGY_DUPLICATE_NAME',
    `Topic ${topic} is read by two sources, ${first} and ${second}: read it once and use the result twice.`,
    {
      details: { topic, sources: [first, second] },
    },
  );
}
