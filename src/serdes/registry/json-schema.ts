import type { Serde } from '../serde.js';
import type { RegistrySerdeOptions } from './registry-serde.js';
import { RegistrySerde } from './registry-serde.js';

/**
 * JSON with the schema's id in front, as Confluent's `KafkaJsonSchemaSerializer` writes it. Values are validated both ways.
 * Needs the package @kafkajs/confluent-schema-registry. Errors: MILL_SERDE_REGISTRY, MILL_SERDE.
 */
export function jsonSchemaSerde<T>(options: RegistrySerdeOptions): Serde<T> {
  return new RegistrySerde<T>('JSON', options);
}
