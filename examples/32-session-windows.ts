// Session windows: activity between pauses. A record in between makes one session of two. Runs without a broker:
//   npx tsx examples/32-session-windows.ts
import { serdes, sessions, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const minute = 60_000;

const builder = new StreamsBuilder();
builder
  .stream('page-views', text)
  .groupByKey()
  .windowedBy(sessions({ gap: 30 * minute, grace: 30 * minute }))
  .aggregate(
    () => '',
    (pages, page) => `${pages}${page} `,
    (earlier, later) => earlier + later,
    { materialized: { storeName: 'visits-store', valueSerde: serdes.string } },
  )
  .toStream()
  .map((pages: string | null, { key, window }) => [key, `${window.start / minute}–${window.end / minute} min: ${pages ?? 'gone'}`], text)
  .to('visits');

await using driver = new TopologyTestDriver(builder.build());
const view = driver.inputTopic('page-views', text);
await view.pipe('ada', 'home', { timestamp: 0 });
await view.pipe('ada', 'help', { timestamp: 50 * minute }); // too long a pause: a second visit
await view.pipe('ada', 'prices', { timestamp: 25 * minute }); // comes late, and joins both

for (const { key, value } of driver.outputTopic('visits', text).readAll()) console.log(`${key} ${value?.trim()}`);

// Prints:
// ada 0–0 min: home
// ada 50–50 min: help
// ada 0–0 min: gone
// ada 50–50 min: gone
// ada 0–50 min: home help prices
