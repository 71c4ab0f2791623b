import { MillraceError } from '../errors.js';
import type { CompressionType } from '../kafka/compression/compression-type.js';
import type { KafkaPort } from '../kafka/port.js';
import type { RecordBatchBuilder } from '../kafka/record-batch/record-batch-builder.js';
import type { Logger } from '../observability/logger.js';
import { TransactionalProducer } from '../transactions/producer/transactional-producer.js';
import type { OutputCollector } from './task-environment.js';
import { ThreadOutput } from './thread-output.js';

/**
 * Where dead letters of global tables go. No transaction spans what a global table reads: a dead letter is sent by an idempotent producer, which is made when the first one
 * is written, and the table goes on once it is acknowledged.
 */
export class GlobalOutput implements OutputCollector {
  private producer: TransactionalProducer | null = null;
  private output: ThreadOutput | null = null;
  private hasLetters = false;

  constructor(
    private readonly port: KafkaPort,
    private readonly logger: Logger,
    private readonly compression: CompressionType,
  ) {}

  async partitionCount(topic: string): Promise<number> {
    if (this.output === null || this.producer === null) {
      this.producer = new TransactionalProducer({
        port: this.port,
        transactionalId: null,
        compression: this.compression,
        logger: this.logger,
      });
      await this.producer.init();
      this.output = new ThreadOutput(this.port, this.producer, this.logger);
    }
    return this.output.partitionCount(topic);
  }

  builder(topic: string, partition: number): RecordBatchBuilder {
    if (this.output === null)
      throw new MillraceError('MILL_INVARIANT', `nobody asked for the partitions of ${topic} before it was written`);
    this.hasLetters = true;
    return this.output.builder(topic, partition);
  }

  /** Resolves when everything written so far is acknowledged. */
  async send(): Promise<void> {
    if (!this.hasLetters || this.producer === null) return;
    this.hasLetters = false;
    await this.producer.sealEpoch().commit([], nobody);
  }

  async close(): Promise<void> {
    await this.producer?.close();
  }
}

/** There are no offsets to commit, so no member commits them. */
const nobody = { groupId: '', memberId: '', generation: -1, groupInstanceId: null };
