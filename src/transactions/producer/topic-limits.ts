/** The largest record batch that each output topic takes (`max.message.bytes`), read once a topic. */
import type { KafkaAdmin } from '../../kafka/port.js';
import type { Logger } from '../../observability/logger.js';

/** Taken by every topic whose limit nobody lowered: the broker's default is 1 048 588, that of old brokers 1 000 012. */
export const DEFAULT_MAX_BATCH_BYTES = 1_000_012;

const SMALLEST_LIMIT = 1024;
const LARGEST_LIMIT = 0x3fff_ffff;

export class TopicLimits {
  private readonly limits = new Map<string, number>();

  constructor(
    private readonly admin: Pick<KafkaAdmin, 'describeTopicConfigs'>,
    private readonly logger: Logger,
  ) {}

  async prepare(topics: readonly string[]): Promise<void> {
    const missing = topics.filter((topic) => !this.limits.has(topic));
    if (missing.length === 0) return;
    try {
      for (const [topic, configs] of await this.admin.describeTopicConfigs(missing)) {
        const limit = Number(configs.get('max.message.bytes') ?? Number.NaN);
        if (Number.isInteger(limit)) this.limits.set(topic, Math.min(LARGEST_LIMIT, Math.max(SMALLEST_LIMIT, limit)));
      }
    } catch (error) {
      // The principal may lack DescribeConfigs; the default fits unless somebody lowered the limit, and then the broker says so.
      this.logger.warn({ err: error, topics: missing }, 'max.message.bytes could not be read; assuming the default');
    }
  }

  maxBatchBytes(topic: string): number {
    return this.limits.get(topic) ?? DEFAULT_MAX_BATCH_BYTES;
  }
}
