/**
 * A topic as a table that every instance holds whole: for small, slowly changing data that any record may need, whatever its key.
 *
 * Joins with it need neither equal keys nor equal partition counts. It is read apart from the other topics, so a join sees what has arrived,
 * whatever the timestamps.
 *
 * @example
 * const airports = builder.globalTable('airports', { keySerde: serdes.string, valueSerde: serdes.json<Airport>() });
 * flights.join(airports, (flight, airport) => ({ ...flight, airport }), { keyOf: (flight) => flight.origin });
 */
export interface GlobalKTable<K, V> {
  readonly kind: 'globalTable';
  /** By which the table can be queried. */
  readonly storeName: string;
  /** Only in types: keeps tables of other keys and values apart. */
  readonly types?: readonly [K, V];
}
