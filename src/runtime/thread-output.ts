import { MillraceError } from '../errors.js';
import type { KafkaPort } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import type { RecordBatchBuilder } from '../kafka/record-batch/record-batch-builder.js';
import type { EpochProducer } from '../transactions/producer/epoch-producer.js';
import type { OutputCollector } from './task-environment.js';

/** The stream thread's output: the producer's builders, and the partition counts of output topics, which `refresh` reads again now and then. */
export class ThreadOutput implements OutputCollector {
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly port: KafkaPort,
    private readonly producer: EpochProducer,
    private readonly logger: Logger,
  ) {}

  partitionCount(topic: string): number | Promise<number> {
    return this.counts.get(topic) ?? this.lookUp(topic);
  }

  builder(topic: string, partition: number): RecordBatchBuilder {
    return this.producer.builder(topic, partition);
  }

  /** Looks whether topics written to have other partition counts by now. What is not there at the moment stays as it was. */
  async refresh(): Promise<void> {
    const topics = [...this.counts.keys()];
    if (topics.length === 0) return;
    const metadata = await this.port.metadata(topics, { refresh: true });
    for (const topic of topics) {
      const [before, now] = [this.counts.get(topic), metadata.topics.get(topic)?.partitions.length ?? 0];
      if (now === 0 || now === before) continue;
      this.counts.set(topic, now);
      this.logger.warn({ topic, before, now }, `output topic ${topic} has ${now} partitions now: keys go to other partitions than before`);
    }
  }

  private async lookUp(topic: string): Promise<number> {
    const metadata = await this.port.metadata([topic], { refresh: true });
    const partitions = metadata.topics.get(topic)?.partitions.length ?? 0;
    if (partitions === 0) throw new MillraceError('MILL_TOPIC_MISSING', `the output topic ${topic} does not exist`, { details: { topic } });
    await this.producer.prepareTopics([topic]);
    this.counts.set(topic, partitions);
    return partitions;
  }
}
