// One final result a window, and what comes too late for it. Time moves with records: a window closes when a record shows that its end and grace have passed. Runs without a broker:
//   npx tsx examples/34-final-results.ts
import { serdes, StreamsBuilder, tumbling } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const second = 1_000;

const builder = new StreamsBuilder();
builder
  .stream('requests', text)
  .groupByKey()
  .windowedBy(tumbling({ size: 60 * second, grace: 5 * second }))
  .count({ emit: 'onWindowClose', materialized: { storeName: 'requests-a-minute' } })
  .toStream()
  .map((count, { key, window }) => [key, `${window.start / second}–${window.end / second} s: ${count}`], text)
  .to('minutes');

await using driver = new TopologyTestDriver(builder.build());
const request = driver.inputTopic('requests', text);
const minutes = driver.outputTopic('minutes', text);
await request.pipe('home', 'GET', { timestamp: 10 * second });
await request.pipe('home', 'GET', { timestamp: 62 * second });
await request.pipe('home', 'GET', { timestamp: 59 * second }); // late, within the grace: counted
console.log(`before the grace has passed: ${minutes.size} results`);
await request.pipe('home', 'GET', { timestamp: 65 * second }); // 60 + 5: the first minute is closed
await request.pipe('home', 'GET', { timestamp: 58 * second }); // too late: dropped and counted
for (const { value } of minutes.readAll()) console.log(value);
console.log(`dropped: ${driver.droppedByReason.get('late')} late`);

// Prints:
// before the grace has passed: 0 results
// 0–60 s: 2
// dropped: 1 late
