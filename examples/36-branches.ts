// One stream split into several, and put together again. Runs without a broker:
//   npx tsx examples/36-branches.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };

const builder = new StreamsBuilder();
const { frost, heat, mild } = builder
  .stream('temperatures', numbers)
  .split({ name: 'by-temperature-' })
  .branch((celsius) => celsius < 0, { name: 'frost' })
  .branch((celsius) => celsius > 30, { name: 'heat' })
  .defaultBranch({ name: 'mild' });
frost.merge(heat).to('warnings', numbers);
mild.to('readings');

await using driver = new TopologyTestDriver(builder.build());
const temperature = driver.inputTopic('temperatures', numbers);
for (const celsius of [-3, 12, 35]) await temperature.pipe('roof', celsius);

for (const topic of ['warnings', 'readings']) {
  const values = driver.outputTopic(topic, numbers).readAll();
  console.log(`${topic}: ${values.map(({ value }) => value).join(', ')}`);
}

// Prints:
// warnings: -3, 35
// readings: 12
