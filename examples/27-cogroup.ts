// Cogroup: several streams folded into one aggregate, each with an aggregator of its own. Runs without a broker:
//   npx tsx examples/27-cogroup.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

interface Account {
  readonly balance: number;
  readonly bookings: number;
}

const amounts = { keySerde: serdes.string, valueSerde: serdes.double };

const builder = new StreamsBuilder();
const deposits = builder.stream('deposits', amounts).groupByKey();
const withdrawals = builder.stream('withdrawals', amounts).groupByKey();
deposits
  .cogroup(({ balance, bookings }: Account, amount) => ({ balance: balance + amount, bookings: bookings + 1 }))
  .cogroup(withdrawals, ({ balance, bookings }, amount) => ({ balance: balance - amount, bookings: bookings + 1 }))
  .aggregate(() => ({ balance: 0, bookings: 0 }), { materialized: { storeName: 'accounts-store', valueSerde: serdes.json<Account>() } })
  .toStream()
  .to('accounts');

await using driver = new TopologyTestDriver(builder.build());
await driver.inputTopic('deposits', amounts).pipe('ada', 100);
await driver.inputTopic('withdrawals', amounts).pipe('ada', 30);

const accounts = driver.outputTopic('accounts', { keySerde: serdes.string, valueSerde: serdes.json<Account>() });
for (const { key, value } of accounts.readAll()) console.log(`${key}: ${value?.balance} after ${value?.bookings}`);

// Prints:
// ada: 100 after 1
// ada: 70 after 2
