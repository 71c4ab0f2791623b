/** Topic patterns match a whole topic name, as in Kafka Streams: `orders-.*` does not match `my-orders-eu`. */

/** Whether `pattern` matches all of `topic`. The pattern's own anchors and its `g` and `y` flags make no difference. */
export function topicPatternMatches(pattern: RegExp, topic: string): boolean {
  return new RegExp(`^(?:${pattern.source})$`, pattern.flags.replace(/[gy]/g, '')).test(topic);
}
