import type { Serde } from '../serde.js';
import type { RegistrySerdeOptions } from './registry-serde.js';
import { RegistrySerde } from './registry-serde.js';

/**
 * Avro with the schema's id in front, as Confluent's `KafkaAvroSerializer` writes it. With `schema`, values of older or newer versions are resolved into it.
 * Needs the packages @kafkajs/confluent-schema-registry. Errors: MILL_SERDE_REGISTRY, MILL_SERDE.
 */
export function avroSerde<T>(options: RegistrySerdeOptions): Serde<T> {
  return new RegistrySerde<T>('AVRO', options);
}
