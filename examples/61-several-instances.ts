// Several instances of an app in one test, without a broker: they share the work, one is killed, the other has a copy of its state and goes on. Run:
//   npx tsx examples/61-several-instances.ts
import { serdes, StreamsBuilder } from 'millrace';
import { inMemoryKafka, type InstanceConfig } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const builder = new StreamsBuilder();
builder
  .stream('votes', text)
  .groupByKey()
  .count({ materialized: { storeName: 'votes-store' } })
  .toStream()
  .to('results');
const topology = builder.build();

const kafka = inMemoryKafka();
kafka.createTopic('votes', 4);
kafka.createTopic('results', 4);
const config: InstanceConfig = { applicationId: 'election', numStandbyReplicas: 1, sessionTimeout: 500 };
const [a, b] = [kafka.app(topology, config), kafka.app(topology, config)];
await Promise.all([a.start(), b.start()]);
const tasksOf = (): number[] => [a, b].map((app) => Object.values(app.metrics().tasks).filter(({ active }) => active).length);
await kafka.until(() => tasksOf().every((count) => count === 2));
console.log(`tasks: ${tasksOf().join(' and ')}`);

const votes = kafka.inputTopic('votes', text);
const results = kafka.outputTopic('results', { keySerde: serdes.string, valueSerde: serdes.count });
for (const candidate of ['Ada', 'Bob', 'Cleo', 'Dan', 'Eve', 'Fay']) await votes.pipe(candidate, '');
await kafka.until(() => results.size === 6);
results.readAll();

await kafka.kill(a); // nothing of it reaches the cluster any more
await votes.pipe('Ada', '');
await votes.pipe('Bob', '');
await kafka.until(() => results.size === 2);
for (const { key, value } of results.readAll().sort((one, other) => (String(one.key) < String(other.key) ? -1 : 1)))
  console.log(`${key}: ${value}`);
await b.close();

// Prints:
// tasks: 2 and 2
// Ada: 2
// Bob: 2
