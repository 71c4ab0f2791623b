import type { Logger } from '../../observability/logger.js';
import { errorName } from '../error-codes.js';
import type { TopicPartition } from '../port.js';

/** Between two warnings about the same topic, ms. */
const repeatMs = 30_000;

/** Says of topics that are asked for in vain that they are: at once, and every 30 s for as long as that lasts. */
export class MissingTopics {
  private readonly topics = new Map<string, { readonly since: number; told: number }>();

  constructor(
    private readonly logger: Logger,
    /** Milliseconds that never go back. */
    private readonly now: () => number,
  ) {}

  seen({ topic, partition }: TopicPartition, errorCode: number): void {
    const now = this.now();
    const known = this.topics.get(topic);
    if (known !== undefined && now - known.told < repeatMs) return;
    if (known === undefined) this.topics.set(topic, { since: now, told: now });
    else known.told = now;
    const forMs = Math.round(now - (known?.since ?? now));
    this.logger.warn(
      { topic, partition, error: errorName(errorCode), forMs },
      `partition ${partition} of topic ${topic} can’t be read (${errorName(errorCode)}): trying on`,
    );
  }

  found(topic: string): void {
    if (this.topics.size > 0) this.topics.delete(topic);
  }
}
