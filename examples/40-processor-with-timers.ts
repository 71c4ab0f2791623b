// A processor of your own, with a store and two timers: totals leave every minute of stream time, and a heartbeat every ten seconds of the clock. Runs without a broker:
//   npx tsx examples/40-processor-with-timers.ts
import { serdes, stores, StreamsBuilder } from 'millrace';
import type { KeyValueStore, Processor, ProcessorContext, Record } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

class Totals implements Processor<string, number, string, number> {
  declare private context: ProcessorContext<string, number>;
  declare private totals: KeyValueStore<string, number>;

  init(context: ProcessorContext<string, number>): void {
    this.context = context;
    this.totals = context.store('totals');
    context.schedule({ interval: 60_000, time: 'stream', startAt: 60_000 }, () => this.flush());
    context.schedule({ interval: 10_000, time: 'wallClock' }, (now) => context.forward({ key: 'alive', value: now }));
  }

  process({ key, value }: Record<string, number>): void {
    this.totals.put(key, (this.totals.get(key) ?? 0) + value);
  }

  private async flush(): Promise<void> {
    for await (const [key, value] of this.totals.range()) {
      await this.context.forward({ key, value });
      this.totals.delete(key);
    }
  }
}

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const builder = new StreamsBuilder();
builder
  .addStateStore(stores.keyValue({ name: 'totals', ...numbers }))
  .stream('amounts', numbers)
  .process(() => new Totals(), { name: 'totals-a-minute', stores: ['totals'], ...numbers })
  .to('totals');

await using driver = new TopologyTestDriver(builder.build());
const amount = driver.inputTopic('amounts', numbers);
await amount.pipe('tea', 2, { timestamp: 1_000 });
await amount.pipe('tea', 3, { timestamp: 2_000 });
await driver.advanceWallClock(10_000); // the clock moves by hand
await amount.pipe('cake', 5, { timestamp: 60_000 }); // moves stream time to the minute

for (const { key, value } of driver.outputTopic('totals', numbers).readAll()) console.log(`${key}: ${value}`);

// Prints:
// alive: 10000
// cake: 5
// tea: 5
