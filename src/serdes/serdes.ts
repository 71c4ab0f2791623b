import { booleanSerde } from './boolean.js';
import { bytesSerde } from './bytes.js';
import { countSerde } from './count.js';
import { doubleSerde } from './double.js';
import { elementListSerde } from './element-list.js';
import { floatSerde } from './float.js';
import { int16Serde } from './int16.js';
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
  /** UTF-8. */
  string: stringSerde,
  /** JSON in UTF-8, of the type you name: `serdes.json<Order>()`. The type is not checked at run time. */
  json: jsonSerde,
  /** Buffers as they are. */
  bytes: bytesSerde,
  /** 2 bytes, big-endian: Java's `Short`. */
  int16: int16Serde,
  /** 4 bytes, big-endian: Java's `Integer`. */
  int32: int32Serde,
  /** 8 bytes, big-endian, as bigint: Java's `Long`. */
  int64: int64Serde,
  /** IEEE 754, 4 bytes, big-endian: Java's `Float`. */
  float: floatSerde,
  /** IEEE 754, 8 bytes, big-endian: any number; Java's `Double`. */
  double: doubleSerde,
  /** One byte, 0 or 1. */
  boolean: booleanSerde,
  /** The 36 characters of a UUID, in UTF-8. */
  uuid: uuidSerde,
  /** No bytes: for topics whose values are all null. */
  void: voidSerde,
  /** 8 bytes, big-endian, as number: what `count()` writes. Exact up to 2^53. */
  count: countSerde,
  /** Lists of values of another serde, `serdes.list(serdes.string)`: Java's `ListSerde`. */
  list: elementListSerde,
  /** Keys of tumbling, hopping and sliding windows, as Kafka Streams writes them: the key's bytes, then 8 bytes of window start. */
  timeWindowed: timeWindowedSerde,
  /** Keys of sessions, as Kafka Streams writes them: the key's bytes, then 8 bytes of end and 8 of start. */
  sessionWindowed: sessionWindowedSerde,
  /** Avro by a schema registry. Needs `@kafkajs/confluent-schema-registry`. */
  avro: avroSerde,
  /** JSON Schema by a schema registry. Needs `@kafkajs/confluent-schema-registry`. */
  jsonSchema: jsonSchemaSerde,
});
