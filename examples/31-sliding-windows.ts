// Sliding windows: one for each set of records that lie near each other in time, whatever the clock says. Three failed log-ins within ten seconds raise an alarm. Runs without a broker:
//   npx tsx examples/31-sliding-windows.ts
import { serdes, sliding, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

const builder = new StreamsBuilder();
builder
  .stream('failed-log-ins', text)
  .groupByKey()
  .windowedBy(sliding({ timeDifference: 10_000, grace: 1_000 }))
  .count({ materialized: { storeName: 'failures' } })
  .toStream()
  .filter((count) => count >= 3)
  .map((count, { key, window }) => [key, `${count} between ${window.start} and ${window.end}`], text)
  .to('alarms');

await using driver = new TopologyTestDriver(builder.build());
const failure = driver.inputTopic('failed-log-ins', text);
for (const timestamp of [8_000, 13_000, 17_000, 40_000]) await failure.pipe('eve', 'wrong password', { timestamp });

for (const { key, value } of driver.outputTopic('alarms', text).readAll()) console.log(`${key}: ${value}`);

// Prints:
// eve: 3 between 7000 and 17000
