/**
 * The part of `@kafkajs/confluent-schema-registry` that registry serdes use, and how its client is made. The package is an optional peer: it is
 * loaded when the first registry serde is prepared.
 */
import { MillraceError } from '../../errors.js';

/** A schema as the client holds it after `getSchema`: an avsc type or a JSON-schema validator. */
export interface RegisteredSchema {
  toBuffer(value: unknown): Buffer;
  fromBuffer(bytes: Buffer, resolver?: unknown): unknown;
  /** avsc only: writes at `position`, gives the new position, or a negative number of missing bytes. */
  encode?(value: unknown, buffer: Buffer, position: number): number;
  createResolver?(writer: unknown): unknown;
  equals?(other: unknown): boolean;
}

/** What a `SchemaRegistry` of `@kafkajs/confluent-schema-registry` offers to a serde. */
export interface RegistryClient {
  /** Adds a schema to a subject, or finds it there. */
  register(schema: { type: string; schema: string }, options: { subject: string; compatibility?: string }): Promise<{ id: number }>;
  /** The schema of an id. */
  getSchema(id: number): Promise<unknown>;
  /** The id of a version of a subject. */
  getRegistryId(subject: string, version: number | string): Promise<number>;
  /** The id of the latest version of a subject. */
  getLatestSchemaId(subject: string): Promise<number>;
}

/** Where the registry is; a client is made with it. */
export interface RegistryConnection {
  /** URL of the Confluent-compatible API, for instance `http://localhost:8081` or `…/apis/ccompat/v7`. */
  readonly host: string;
  /** HTTP Basic. Default: none. */
  readonly auth?: { readonly username: string; readonly password: string };
  /** Sent with each request. Default: the client's. */
  readonly clientId?: string;
  /** Retries of a failed request. Default 3, within 5 s. */
  readonly retry?: { readonly retries?: number; readonly maxRetryTimeInSecs?: number; readonly initialRetryTimeInSecs?: number };
}

interface RegistryModule {
  SchemaRegistry: new (connection: RegistryConnection) => RegistryClient;
}

export async function openRegistry(registry: RegistryConnection | RegistryClient): Promise<RegistryClient> {
  if ('getSchema' in registry) return registry;
  let loaded: RegistryModule;
  try {
    loaded = await import('@kafkajs/confluent-schema-registry');
  } catch (cause) {
    throw new MillraceError(
      'MILL_SERDE_REGISTRY',
      'Avro and JSON Schema serdes need the package @kafkajs/confluent-schema-registry (npm install it)',
      {
        cause,
      },
    );
  }
  return new loaded.SchemaRegistry(registry);
}

/** True when the registry said that it knows no such subject or version. */
export function isNotFound(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { status?: unknown }).status === 404;
}
