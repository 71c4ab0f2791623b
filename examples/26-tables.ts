// Tables: a topic read as the last value of each key, filtered, mapped, grouped by another key. Runs without a broker:
//   npx tsx examples/26-tables.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

interface User {
  readonly name: string;
  readonly country: string;
}

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const people = { keySerde: serdes.string, valueSerde: serdes.json<User>() };

const builder = new StreamsBuilder();
const users = builder.table('users', { ...people, materialized: { storeName: 'users-store' } });
users
  .filter((user) => user.country === 'CH', { materialized: { storeName: 'swiss-store' } })
  .mapValues((user) => user.name, { valueSerde: serdes.string })
  .toStream()
  .to('swiss-names');
users
  .groupBy((user, id) => [user.country, id], { name: 'by-country', keySerde: serdes.string, valueSerde: serdes.string })
  .count({ materialized: { storeName: 'country-counts' } })
  .toStream()
  .to('users-by-country');

await using driver = new TopologyTestDriver(builder.build());
const user = driver.inputTopic('users', people);
await user.pipe('1', { name: 'Ada', country: 'CH' });
await user.pipe('2', { name: 'Bob', country: 'CH' });
await user.pipe('1', { name: 'Ada', country: 'UK' }); // leaves one group and joins another
await user.pipe('2', null); // deleted

for (const { key, value } of driver.outputTopic('swiss-names', text).readAll()) console.log(`swiss: ${key} ${value ?? 'deleted'}`);
const counts = driver.outputTopic('users-by-country', { keySerde: serdes.string, valueSerde: serdes.count });
for (const { key, value } of counts.readAll()) console.log(`count: ${key} ${value}`);

// Prints:
// swiss: 1 Ada
// swiss: 2 Bob
// swiss: 1 deleted
// swiss: 2 deleted
// count: CH 1
// count: CH 2
// count: CH 1
// count: UK 1
// count: CH 0
