import type { AirportDay } from '../02-flight-delays/topology.js';
import type { Collector } from './collector.js';

export interface Comparison {
  readonly windows: number;
  /** Flights missing from the result. */
  readonly lost: number;
  /** Flights counted more than once, and results given out twice. */
  readonly duplicated: number;
  /** Rows whose sum, mean or airport differ although their count is right. */
  readonly different: number;
}

/** Compares every row of the result with the answer computed directly. */
export function compare(expected: ReadonlyMap<string, AirportDay>, collector: Collector): Comparison {
  let lost = 0;
  let duplicated = collector.repeated;
  let different = 0;
  for (const [key, wanted] of expected) {
    const got = collector.rows.get(key);
    const flights = got?.flights ?? 0;
    if (flights < wanted.flights) lost += wanted.flights - flights;
    else if (flights > wanted.flights) duplicated += flights - wanted.flights;
    else if (got === undefined || !same(got, wanted)) different++;
  }
  for (const [key, row] of collector.rows) if (!expected.has(key)) duplicated += row.flights;
  return { windows: collector.rows.size, lost, duplicated, different };
}

function same(a: AirportDay, b: AirportDay): boolean {
  return (
    a.totalDelay === b.totalDelay &&
    a.meanDelay === b.meanDelay &&
    a.airport === b.airport &&
    a.state === b.state &&
    a.origin === b.origin &&
    a.day === b.day
  );
}

/** Airports with the worst mean delay among those with at least `leastFlights` flights. */
export function worstAirports(
  rows: Iterable<AirportDay>,
  leastFlights: number,
  count: number,
): { readonly airport: string; readonly state: string; readonly flights: number; readonly meanDelay: number }[] {
  const totals = new Map<string, { airport: string; state: string; flights: number; delay: number }>();
  for (const { origin, airport, state, flights, totalDelay } of rows) {
    const total = totals.get(origin) ?? { airport, state, flights: 0, delay: 0 };
    total.flights += flights;
    total.delay += totalDelay;
    totals.set(origin, total);
  }
  return [...totals.values()]
    .filter(({ flights }) => flights >= leastFlights)
    .map(({ airport, state, flights, delay }) => ({ airport, state, flights, meanDelay: delay / flights }))
    .sort((a, b) => b.meanDelay - a.meanDelay)
    .slice(0, count);
}
