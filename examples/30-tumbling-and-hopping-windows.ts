// Tumbling windows, one after the other, and hopping ones, which overlap: requests a minute, and in the last minute every half minute. Runs without a broker:
//   npx tsx examples/30-tumbling-and-hopping-windows.ts
import { hopping, serdes, StreamsBuilder, tumbling } from 'millrace';
import type { KTable, TimeWindows, Windowed } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const seconds = (ms: number) => ms / 1_000;

const builder = new StreamsBuilder();
const requests = builder.stream('requests', text).groupByKey();
const counted = (windows: TimeWindows, store: string) => requests.windowedBy(windows).count({ materialized: { storeName: store } });
const report = (table: KTable<Windowed<string>, number>, topic: string) => {
  table
    .toStream()
    .map((count, { key, window }) => [key, `${seconds(window.start)}–${seconds(window.end)} s: ${count}`], text)
    .to(topic);
};
report(counted(tumbling({ size: 60_000 }), 'minutes'), 'tumbling');
report(counted(hopping({ size: 60_000, advance: 30_000 }), 'last-minutes'), 'hopping');

await using driver = new TopologyTestDriver(builder.build());
const request = driver.inputTopic('requests', text);
await request.pipe('home', 'GET', { timestamp: 10_000 });
await request.pipe('home', 'GET', { timestamp: 45_000 });
await request.pipe('home', 'GET', { timestamp: 60_000 }); // a window ends just before its end

for (const topic of ['tumbling', 'hopping']) {
  for (const { value } of driver.outputTopic(topic, text).readAll()) console.log(`${topic}: ${value}`);
}

// Prints:
// tumbling: 0–60 s: 1
// tumbling: 0–60 s: 2
// tumbling: 60–120 s: 1
// hopping: 0–60 s: 1
// hopping: 0–60 s: 2
// hopping: 30–90 s: 1
// hopping: 30–90 s: 2
// hopping: 60–120 s: 1
