import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import type { Airport, AirportDay, Flight } from '../02-flight-delays/topology.js';

/** A flight and when it departed, ms since the epoch. */
export interface Departure {
  readonly flight: Flight;
  readonly timestamp: number;
}

/** The package exports only its index (`build/index.js`); the files lie in `data`. */
const data = fileURLToPath(new URL('../data/', import.meta.resolve('vega-datasets')));

/** 20 000 US flights of January to March 2001, in order of departure (npm package vega-datasets, BSD-3). */
export function readFlights(): Departure[] {
  const rows = JSON.parse(readFileSync(path.join(data, 'flights-20k.json'), 'utf8')) as readonly {
    readonly date: string;
    readonly delay: number;
    readonly origin: string;
    readonly destination: string;
  }[];
  return rows
    .map(({ date, delay, origin, destination }) => ({
      flight: { origin, destination, delay },
      timestamp: Date.parse(`${date.replaceAll('/', '-').replace(' ', 'T')}:00Z`),
    }))
    .sort((a, b) => a.timestamp - b.timestamp);
}

export function readAirports(): ReadonlyMap<string, Airport> {
  const rows = parse(readFileSync(path.join(data, 'airports.csv')), { columns: true, skip_empty_lines: true }) as readonly {
    readonly iata: string;
    readonly name: string;
    readonly state: string;
  }[];
  return new Map(rows.map(({ iata, name, state }) => [iata, { name, state }]));
}

/**
 * Moves departures out of order by at most `reach` ms of event time, the same way at every run: each is put where a departure up to `reach` later would be.
 */
export function disorder(departures: readonly Departure[], reach: number): Departure[] {
  let seed = 42;
  const random = (): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return seed / 0x7fff_ffff;
  };
  return departures
    .map((departure) => ({ departure, place: departure.timestamp + random() * reach }))
    .sort((a, b) => a.place - b.place)
    .map(({ departure }) => departure);
}

/** The answer, computed directly: by `<origin>@<day>`. */
export function expectedDays(departures: readonly Departure[], airports: ReadonlyMap<string, Airport>): Map<string, AirportDay> {
  const days = new Map<string, AirportDay>();
  for (const { flight, timestamp } of departures) {
    const day = new Date(timestamp).toISOString().slice(0, 10);
    const key = `${flight.origin}@${day}`;
    const before = days.get(key);
    const flights = (before?.flights ?? 0) + 1;
    const totalDelay = (before?.totalDelay ?? 0) + flight.delay;
    const airport = airports.get(flight.origin);
    days.set(key, {
      origin: flight.origin,
      day,
      flights,
      totalDelay,
      meanDelay: totalDelay / flights,
      airport: airport?.name ?? '(unknown)',
      state: airport?.state ?? '',
    });
  }
  return days;
}
