// A processor with a store and a timer: reports devices that have sent nothing for a minute of stream time. `heartbeats` (key: device) in,
// `silent-devices` out. The topics must exist.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/05-own-processor.ts
import { serdes, stores, StreamsApp, StreamsBuilder } from 'millrace';
import type { KeyValueStore, Processor, ProcessorContext, Record } from 'millrace';

const silentAfterMs = 60_000;

class SilenceDetector implements Processor<string, unknown, string, string> {
  declare private context: ProcessorContext<string, string>;
  /** When each device was last heard of, ms. */
  declare private lastSeen: KeyValueStore<string, number>;

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
    this.lastSeen = context.store('last-seen');
    context.schedule({ interval: 10_000, time: 'stream' }, (now) => this.report(now));
  }

  process({ key, timestamp }: Record<string, unknown>): void {
    this.lastSeen.put(key, Math.max(timestamp, this.lastSeen.get(key) ?? 0));
  }

  private async report(now: number): Promise<void> {
    for await (const [device, seen] of this.lastSeen.range()) {
      if (now - seen < silentAfterMs) continue;
      this.lastSeen.delete(device);
      await this.context.forward({ key: device, value: new Date(seen).toISOString() });
    }
  }
}

const builder = new StreamsBuilder();
builder
  .addStateStore(stores.keyValue({ name: 'last-seen', keySerde: serdes.string, valueSerde: serdes.double }))
  .stream('heartbeats', { keySerde: serdes.string, valueSerde: serdes.bytes })
  .process(() => new SilenceDetector(), {
    name: 'detect-silence',
    stores: ['last-seen'],
    keySerde: serdes.string,
    valueSerde: serdes.string,
  })
  .to('silent-devices');

const app = new StreamsApp(builder.build(), {
  applicationId: 'silence-detector',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
});
process.once('SIGINT', () => void app.close().catch(console.error));
process.once('SIGTERM', () => void app.close().catch(console.error));
await app.start();
