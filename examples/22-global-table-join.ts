// A stream joined with a global table by any field of its records: no equal keys, no equal partition counts. Runs without a broker:
//   npx tsx examples/22-global-table-join.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

interface Flight {
  readonly from: string;
  readonly to: string;
}

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const flights = { keySerde: serdes.string, valueSerde: serdes.json<Flight>() };

const builder = new StreamsBuilder();
const airports = builder.globalTable('airports', text);
builder
  .stream('flights', flights)
  .leftJoin(airports, (flight, city) => `from ${flight.from} to ${city ?? flight.to}`, {
    keyOf: (flight) => flight.to,
    valueSerde: serdes.string,
  })
  .to('boards');

await using driver = new TopologyTestDriver(builder.build(), { partitions: { flights: 4, airports: 1 } });
await driver.inputTopic('airports', text).pipe('ZRH', 'Zürich');
const flight = driver.inputTopic('flights', flights);
await flight.pipe('LX1', { from: 'BOS', to: 'ZRH' });
await flight.pipe('LX2', { from: 'ZRH', to: 'BOS' });

for (const { key, value } of driver.outputTopic('boards', text).readAll()) console.log(`${key} ${value}`);

// Prints:
// LX1 from BOS to Zürich
// LX2 from ZRH to BOS
