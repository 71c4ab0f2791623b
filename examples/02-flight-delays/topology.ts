import { serdes, StreamsBuilder, tumbling, type Topology } from 'millrace';

/** A departure; the topic's key is `origin`, the record's timestamp the time of departure. */
export interface Flight {
  readonly origin: string;
  readonly destination: string;
  /** Minutes; negative = early. */
  readonly delay: number;
}

/** An airport; the topic's key is its IATA code. */
export interface Airport {
  readonly name: string;
  readonly state: string;
}

/** The result for one airport and day; the topic's key is `<origin>@<day>`. */
export interface AirportDay {
  readonly origin: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly flights: number;
  readonly totalDelay: number;
  readonly meanDelay: number;
  readonly airport: string;
  readonly state: string;
}

interface Totals {
  readonly flights: number;
  readonly delay: number;
}

const hour = 3_600_000;
const day = 24 * hour;

/** Flights per airport and day: count, sum and mean of delays, with the airport's name. */
export function flightDelays(): Topology {
  const builder = new StreamsBuilder();
  const airports = builder.globalTable('airports', {
    keySerde: serdes.string,
    valueSerde: serdes.json<Airport>(),
    materialized: { storeName: 'airports-store' },
  });
  builder
    .stream('flights', { keySerde: serdes.string, valueSerde: serdes.json<Flight>() })
    .groupByKey()
    .windowedBy(tumbling({ size: day, grace: 12 * hour }))
    .aggregate(
      (): Totals => ({ flights: 0, delay: 0 }),
      (totals, flight) => ({ flights: totals.flights + 1, delay: totals.delay + flight.delay }),
      {
        name: 'daily-delays',
        materialized: {
          storeName: 'daily-delays-store',
          valueSerde: serdes.json<Totals>(),
          // The broker counts retention by record time, and these flights are of 2001.
          changelogConfigs: { 'retention.ms': '-1' },
        },
      },
    )
    .toStream()
    .leftJoin(airports, describe, { keyOf: (_totals, window) => window.key })
    .selectKey((result) => `${result.origin}@${result.day}`, { keySerde: serdes.string })
    .to('airport-days', { valueSerde: serdes.json<AirportDay>() });
  return builder.build({ explicitNames: 'require' });
}

function describe(
  totals: Totals,
  airport: Airport | null,
  window: { readonly key: string; readonly window: { readonly start: number } },
): AirportDay {
  return {
    origin: window.key,
    day: new Date(window.window.start).toISOString().slice(0, 10),
    flights: totals.flights,
    totalDelay: totals.delay,
    meanDelay: totals.delay / totals.flights,
    airport: airport?.name ?? '(unknown)',
    state: airport?.state ?? '',
  };
}
