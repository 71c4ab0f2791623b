// Keyed state and timers of a key: an order that is not paid within an hour of its own time is told. Runs without a broker:
//   npx tsx examples/51-keyed-state-and-timers.ts
import { serdes, StreamsBuilder, valueState, watermarks } from 'millrace';
import type { FiredTimer, KeyedProcessor, KeyedProcessorContext, Record, ValueState } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const hour = 3_600_000;
const deadline = valueState<number>('deadline', { serde: serdes.double });

class Unpaid implements KeyedProcessor<string, string, string, string> {
  declare private context: KeyedProcessorContext<string, string, string>;
  declare private deadline: ValueState<number>;

  init(context: KeyedProcessorContext<string, string, string>): void {
    this.context = context;
    this.deadline = context.state(deadline);
  }

  process({ value, timestamp }: Record<string, string>): void {
    const waiting = this.deadline.value();
    if (value === 'paid' && waiting !== null) {
      this.context.timers.deleteEventTimer(waiting);
      this.deadline.clear();
    } else if (value === 'ordered') {
      this.deadline.update(timestamp + hour);
      this.context.timers.registerEventTimer(timestamp + hour);
    }
  }

  onTimer({ key }: FiredTimer<string>): void | Promise<void> {
    this.deadline.clear();
    return this.context.forward({ key, value: 'unpaid' });
  }
}

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const builder = new StreamsBuilder();
builder
  .stream('orders', { ...text, watermarks: watermarks.monotonous() })
  .keyBy()
  .process(() => new Unpaid(), { name: 'unpaid', states: [deadline], ...text })
  .to('reminders');

await using driver = new TopologyTestDriver(builder.build());
const order = driver.inputTopic('orders', text);
await order.pipe('o1', 'ordered', { timestamp: 0 });
await order.pipe('o2', 'ordered', { timestamp: 1_000 });
await order.pipe('o1', 'paid', { timestamp: 2_000 });
await order.pipe('o3', 'ordered', { timestamp: 2 * hour });

for (const { key, value, timestamp } of driver.outputTopic('reminders', text).readAll()) console.log(`${key} ${value} at ${timestamp}`);

// Prints:
// o2 unpaid at 3601000
