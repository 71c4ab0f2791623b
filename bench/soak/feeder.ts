import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaPort } from '../../src/kafka/port.js';
import { RecordSender } from '../clients/record-sender.js';
import { keyIndexOf, keyOf, makeValues } from '../input/record-shape.js';

/** Enough for the app never to wait, little enough for the topic to be deleted behind it. */
const mostAhead = 400_000;
const pauseMs = 5;

/** Writes records without end, never far ahead of what is processed: each key once, then keys in no order. */
export class Feeder {
  written = 0;
  private isStopped = false;
  private readonly done: Promise<void>;

  /** @param processed how many records the app has processed */
  constructor(
    private readonly target: { readonly port: KafkaPort; readonly topic: string; readonly keys: number },
    private readonly processed: () => number,
  ) {
    this.done = this.run();
  }

  /** Rejects when writing fails; resolves after `stop`. */
  get ended(): Promise<void> {
    return this.done;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.done;
  }

  private async run(): Promise<void> {
    const { port, topic, keys } = this.target;
    const sender = await RecordSender.open(port, topic);
    const values = makeValues().map((value) => Buffer.from(value));
    while (!this.isStopped) {
      if (this.written - this.processed() > mostAhead) {
        await delay(pauseMs);
        continue;
      }
      const i = this.written++;
      const key = keyOf(keyIndexOf(i, keys, i < keys ? 'inTurn' : 'shuffled'));
      if (sender.append(Date.now(), key, values[i % values.length] ?? Buffer.alloc(0))) await sender.send();
    }
    await sender.flush();
  }
}
