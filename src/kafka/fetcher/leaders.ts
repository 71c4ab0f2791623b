/**
 * Who leads the fetcher's partitions. Asks for metadata when somebody is missing, one request at a time, with growing pauses while
 * a topic is unknown or has no leader.
 */
import type { MillraceError } from '../../errors.js';
import type { Logger } from '../../observability/logger.js';
import { backoffMs } from '../backoff.js';
import { ErrorCodes, isAuthorizationError } from '../error-codes.js';
import type { KafkaPort, TopicPartition } from '../port.js';
import { partitionKey } from './partition-state.js';

const BACKOFF = { initialMs: 20, maxMs: 1000 };

export interface LeadersOptions {
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
  /** Id of a topic as just told by a broker. */
  readonly onTopicId: (topic: string, topicId: string) => void;
  /** It is not there, or has no leader: asked for again after a pause. */
  readonly onMissing: (partition: TopicPartition, errorCode: number) => void;
  /** Metadata arrived, or failed: look again. */
  readonly onChange: () => void;
  readonly onForbidden: (topic: string, errorCode: number) => void;
  readonly onFatal: (error: MillraceError) => void;
}

export class Leaders {
  private readonly leaders = new Map<string, number>();
  private asking = false;
  private failures = 0;
  private nextAt = 0;
  /** Known leaders proved wrong since the last answer. */
  private refresh = false;

  constructor(
    private readonly port: Pick<KafkaPort, 'metadata'>,
    private readonly options: LeadersOptions,
  ) {}

  leaderOf(key: string): number | undefined {
    return this.leaders.get(key);
  }

  /** The leader refused the partition or did not answer. */
  doubt(partition: TopicPartition): void {
    this.leaders.delete(partitionKey(partition));
    this.refresh = true;
  }

  forget(partition: TopicPartition): void {
    this.leaders.delete(partitionKey(partition));
  }

  /** Asks for the leaders of these partitions, or returns the time to come again; null while an answer is awaited. */
  find(missing: readonly TopicPartition[]): number | null {
    if (this.asking) return null;
    if (this.options.now() < this.nextAt) return this.nextAt;
    this.asking = true;
    void this.ask([...new Set(missing.map(({ topic }) => topic))], missing);
    return null;
  }

  private async ask(topics: readonly string[], missing: readonly TopicPartition[]): Promise<void> {
    let found = true;
    try {
      const metadata = await this.port.metadata(topics, { refresh: this.refresh });
      this.refresh = false;
      for (const topic of topics) {
        const known = metadata.topics.get(topic);
        if (known !== undefined && isAuthorizationError(known.errorCode)) this.options.onForbidden(topic, known.errorCode);
        if (known?.topicId) this.options.onTopicId(topic, known.topicId);
      }
      // Those asked for alone: who is assigned later asks anew, and is told the topic's id before its first fetch.
      const unfound = missing.filter(({ topic, partition }) => {
        const leader = metadata.topics.get(topic)?.partitions.find((told) => told.partition === partition)?.leader ?? -1;
        if (leader >= 0) this.leaders.set(partitionKey({ topic, partition }), leader);
        return leader < 0;
      });
      for (const partition of unfound) {
        this.options.onMissing(partition, metadata.topics.get(partition.topic)?.errorCode || ErrorCodes.LEADER_NOT_AVAILABLE);
      }
      found = unfound.length === 0;
      if (!found) this.refresh = true;
    } catch (error) {
      found = false;
      this.refresh = true;
      if ((error as MillraceError).code !== 'MILL_TRANSPORT') this.options.onFatal(error as MillraceError);
      else this.options.logger.debug({ err: error }, 'the leaders of partitions to fetch could not be read');
    }
    this.asking = false;
    this.failures = found ? 0 : this.failures + 1;
    this.nextAt = found ? 0 : this.options.now() + backoffMs(this.failures, BACKOFF, this.options.random);
    this.options.onChange();
  }
}
