import { booleanSerde } from './boolean.js';
import { bytesSerde } from './bytes.js';
import { countSerde } from './count.js';
import { doubleSerde } from './double.js';
import { int32Serde } from './int32.js';
import { int64Serde } from './int64.js';
import { jsonSerde } from './json.js';
import { avroSerde } from './registry/avro.js';
import { jsonSchemaSerde } from './registry/json-schema.js';
import { sessionWindowedSerde } from './session-windowed.js';
import { stringSerde } from './string.js';
import { uuidSerde } from './uuid.js';
import { voidSerde } from './void.js';
import { timeWindowedSerde } from './windowed.js';

/**
 * The serdes of the library. Primitives write the same bytes as Kafka's Java serdes.
 *
 * @example
 * builder.stream('clicks', { keySerde: serdes.string, valueSerde: serdes.json<Click>() })
 */
export const serdes = Object.freeze({
  string: stringSerde,
  json: jsonSerde,
  bytes: bytesSerde,
  int32: int32Serde,
  int64: int64Serde,
  double: doubleSerde,
  boolean: booleanSerde,
  uuid: uuidSerde,
  void: voidSerde,
  count: countSerde,
  timeWindowed: timeWindowedSerde,
  sessionWindowed: sessionWindowedSerde,
  avro: avroSerde,
  jsonSchema: jsonSchemaSerde,
});
