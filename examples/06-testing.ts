// Tests of example 02, without a broker, with the test runner of Node:
//   npx tsx --test examples/06-testing.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serdes } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';
import { flightDelays, type Airport, type AirportDay, type Flight } from './02-flight-delays/topology.js';

const day = 86_400_000;

function openDriver() {
  const driver = new TopologyTestDriver(flightDelays());
  return {
    driver,
    airports: driver.inputTopic('airports', { keySerde: serdes.string, valueSerde: serdes.json<Airport>() }),
    flights: driver.inputTopic('flights', { keySerde: serdes.string, valueSerde: serdes.json<Flight>() }),
    results: driver.outputTopic('airport-days', { keySerde: serdes.string, valueSerde: serdes.json<AirportDay>() }),
  };
}

void test('flights of one airport and day are counted together', async () => {
  const { driver, airports, flights, results } = openDriver();
  await airports.pipe('BOS', { name: 'Logan', state: 'MA' });
  await flights.pipe('BOS', { origin: 'BOS', destination: 'ORD', delay: 10 }, { timestamp: day });
  await flights.pipe('BOS', { origin: 'BOS', destination: 'SFO', delay: -4 }, { timestamp: day + 1 });

  const last = results.readAll().at(-1);
  assert.equal(last?.key, 'BOS@1970-01-02');
  assert.equal(last.value?.airport, 'Logan');
  assert.equal(last.value.flights, 2);
  assert.equal(last.value.meanDelay, 3);
  await driver.close();
});

void test('a flight that comes too late for its day is dropped and counted', async () => {
  const { driver, flights, results } = openDriver();
  await flights.pipe('BOS', { origin: 'BOS', destination: 'ORD', delay: 0 }, { timestamp: 2 * day });
  await flights.pipe('BOS', { origin: 'BOS', destination: 'ORD', delay: 0 }, { timestamp: 2 * day + day / 2 });
  results.readAll();
  await flights.pipe('BOS', { origin: 'BOS', destination: 'ORD', delay: 0 }, { timestamp: day });

  assert.deepEqual(results.readAll(), []);
  assert.equal(driver.droppedByReason.get('late'), 1);
  await driver.close();
});
