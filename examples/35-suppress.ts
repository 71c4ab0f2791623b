// Suppression holds changes of a table back: until a window is final, or so that a busy row leaves once in a while only. Runs without a broker:
//   npx tsx examples/35-suppress.ts
import { serdes, StreamsBuilder, tumbling, untilTimeLimit, untilWindowCloses } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const counts = { keySerde: serdes.string, valueSerde: serdes.count };
const second = 1_000;

const builder = new StreamsBuilder();
const votes = builder.stream('votes', text).groupByKey();
votes
  .count({ materialized: { storeName: 'votes-store' } })
  .suppress(untilTimeLimit(10 * second, { maxRecords: 1_000, whenFull: 'emitEarly' }))
  .toStream()
  .to('now-and-then');
votes
  .windowedBy(tumbling({ size: 30 * second }))
  .count({ materialized: { storeName: 'half-minutes-store' } })
  .suppress(untilWindowCloses({ whenFull: 'spill' }))
  .filter((count) => count > 1) // behind it: a change that a filter leaves out would not move the time that closes windows
  .toStream()
  .selectKey((_count, { key, window }) => `${key}@${window.start / second}s`, { keySerde: serdes.string })
  .to('busy-half-minutes', { valueSerde: serdes.count });

await using driver = new TopologyTestDriver(builder.build());
const vote = driver.inputTopic('votes', text);
for (const timestamp of [1, 2, 3, 11, 12, 35]) await vote.pipe('yes', '', { timestamp: timestamp * second });

for (const topic of ['now-and-then', 'busy-half-minutes']) {
  for (const { key, value } of driver.outputTopic(topic, counts).readAll()) console.log(`${topic}: ${key} ${value}`);
}

// Prints:
// now-and-then: yes 4
// now-and-then: yes 6
// busy-half-minutes: yes@0s 5
