import type { Consumer, Kafka } from 'kafkajs';
import type { AirportDay } from '../02-flight-delays/topology.js';

/** What a read_committed consumer of the result topic saw. */
export class Collector {
  /** Last row of each key. */
  readonly rows = new Map<string, AirportDay>();
  updates = 0;
  /** Updates that did not count more flights than the one before: a result that was given out twice. */
  repeated = 0;
  flights = 0;
  lastUpdateAt = Date.now();
  private consumer: Consumer | null = null;

  async start(kafka: Kafka, topic: string): Promise<void> {
    const consumer = kafka.consumer({ groupId: 'demo-collector', readUncommitted: false });
    this.consumer = consumer;
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      eachMessage: ({ message }) => {
        this.take(String(message.key), JSON.parse(String(message.value)) as AirportDay);
        return Promise.resolve();
      },
    });
  }

  async stop(): Promise<void> {
    await this.consumer?.disconnect();
  }

  private take(key: string, row: AirportDay): void {
    const before = this.rows.get(key)?.flights ?? 0;
    this.rows.set(key, row);
    this.updates++;
    this.flights += row.flights - before;
    if (row.flights <= before) this.repeated++;
    this.lastUpdateAt = Date.now();
  }
}
