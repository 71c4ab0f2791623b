// Rules by broadcast: limits change while payments flow, and every task knows them all. Runs without a broker:
//   npx tsx examples/53-rules-by-broadcast.ts
import { mapState, serdes, StreamsBuilder, valueState } from 'millrace';
import type {
  KeyedBroadcastAccess,
  KeyedBroadcastProcessor,
  KeyedBroadcastProcessorContext,
  Record,
  ReadonlyBroadcastState,
  ValueState,
} from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

interface Rule {
  /** Spent in all, above which a payment is told. */
  readonly limit: number;
}

const rules = mapState<string, Rule>('rules');
const spent = valueState<number>('spent', { serde: serdes.double });

class CheckRules implements KeyedBroadcastProcessor<string, number, string | null, Rule | null, string, string> {
  declare private context: KeyedBroadcastProcessorContext<string, string, string>;
  declare private rules: ReadonlyBroadcastState<string, Rule>;
  declare private spent: ValueState<number>;

  init(context: KeyedBroadcastProcessorContext<string, string, string>): void {
    this.context = context;
    this.rules = context.broadcastState(rules);
    this.spent = context.state(spent);
  }

  async process({ key, value }: Record<string, number>): Promise<void> {
    const total = (this.spent.value() ?? 0) + value;
    this.spent.update(total);
    for (const [name, { limit }] of this.rules.entries()) {
      if (total > limit) await this.context.forward({ key, value: `${name}: ${total} is above ${limit}` });
    }
  }

  processBroadcast({ key, value }: Record<string | null, Rule | null>, broadcast: KeyedBroadcastAccess<string>): void {
    if (key !== null) broadcast.state(rules).put(key, value); // null, a tombstone, takes the rule away
  }
}

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const payment = { keySerde: serdes.string, valueSerde: serdes.double };
const rule = { keySerde: serdes.string, valueSerde: serdes.json<Rule>() };

const builder = new StreamsBuilder();
const changes = builder
  .stream<string | null, Rule | null>('rules', { ...rule, valueSerde: serdes.json<Rule | null>() })
  .broadcast({ name: 'rules', states: [rules] });
builder
  .stream('payments', payment)
  .keyBy()
  .connect(changes)
  .process(() => new CheckRules(), { name: 'check', states: [spent], ...text })
  .to('alerts');

// Three partitions: whichever task a payment comes to, it has every rule.
await using driver = new TopologyTestDriver(builder.build(), { partitions: { payments: 3, rules: 1 } });
const rulesIn = driver.inputTopic('rules', rule);
const payments = driver.inputTopic('payments', payment);
await rulesIn.pipe('limit', { limit: 100 });
await payments.pipe('ada', 80);
await payments.pipe('bob', 120);
await rulesIn.pipe('limit', { limit: 200 });
await payments.pipe('ada', 70);
await payments.pipe('bob', 90);
await rulesIn.pipe('limit', null);
await payments.pipe('ada', 500);

for (const { key, value } of driver.outputTopic('alerts', text).readAll()) console.log(`${key}, ${value}`);

// Prints:
// bob, limit: 120 is above 100
// bob, limit: 210 is above 200
