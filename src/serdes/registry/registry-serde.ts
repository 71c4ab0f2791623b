/**
 * A serde whose schemas live in a Confluent-compatible schema registry. Wire format: byte 0, schema id as 4 bytes big-endian, payload.
 *
 * `prepare` registers or looks up the writer schema and loads every version of the subject, so that encoding is synchronous and decoding is too for
 * ids known by then. An id met for the first time is loaded while the task waits for the promise: input topics only.
 */
import { ByteWriter } from '../../bytes/byte-writer.js';
import { anyObject, requireOptions, text, type ShapeOf } from '../../errors/checked-options.js';
import { MillraceError } from '../../errors.js';
import type { Serde, SerdeUse } from '../serde.js';
import { cannotDeserialize } from '../serde-error.js';
import type { RegisteredSchema, RegistryClient, RegistryConnection } from './registry-client.js';
import { isNotFound, openRegistry } from './registry-client.js';

/** For `serdes.avro` and `serdes.jsonSchema`. */
export interface RegistrySerdeOptions {
  /** Where the registry is, or a client of `@kafkajs/confluent-schema-registry` made by the caller. */
  readonly registry: RegistryConnection | RegistryClient;
  /** Registered at `prepare` and used for writing; Avro also reads into it. Default: the latest schema of the subject, and values as they were written. */
  readonly schema?: object;
  /** Default `<topic>-key` or `<topic>-value`. */
  readonly subject?: string;
  /** Compatibility level of a subject that is registered for the first time; must be the subject's own when it exists. Default BACKWARD. */
  readonly compatibility?: string;
}

const shape = { registry: anyObject, schema: anyObject, subject: text, compatibility: text } satisfies ShapeOf<RegistrySerdeOptions>;

const magicByte = 0;
const headerBytes = 5;
/** Versions of a subject may have gaps after deletions; so many in a row end the search. */
const maxVersionGap = 10;

interface ReaderSchema {
  readonly schema: RegisteredSchema;
  /** How data of this writer becomes the reader's; undefined when the two are the same or there is no reader schema. */
  readonly reader: RegisteredSchema;
  readonly resolver: unknown;
}

export class RegistrySerde<T> implements Serde<T> {
  readonly name: string;
  private client: Promise<RegistryClient> | null = null;
  private readonly readers = new Map<number, ReaderSchema>();
  private readonly loading = new Map<number, Promise<ReaderSchema>>();
  private writer: RegisteredSchema | null = null;
  private writerId = -1;

  constructor(
    private readonly type: 'AVRO' | 'JSON',
    private readonly options: RegistrySerdeOptions,
  ) {
    this.name = type === 'AVRO' ? 'avro' : 'jsonSchema';
    requireOptions(`serdes.${this.name}`, options, shape);
    if (anyObject(options.registry) !== null) {
      throw new MillraceError(
        'MILL_TOPOLOGY_INVALID',
        `serdes.${this.name} needs a \`registry\`, as in { registry: { host: 'http://localhost:8081' } }.`,
      );
    }
  }

  async prepare(use: SerdeUse): Promise<void> {
    const subject = this.options.subject ?? `${use.topic}-${use.part}`;
    try {
      const client = await this.open();
      const latest =
        this.options.schema === undefined
          ? await this.latestId(client, subject)
          : await this.register(client, subject, this.options.schema);
      if (latest === null) return;
      if (this.writer === null) {
        this.writer = (await client.getSchema(latest)) as RegisteredSchema;
        this.writerId = latest;
      }
      await this.loadVersions(client, subject, latest);
    } catch (cause) {
      throw this.registryError(`Preparing subject ${subject} failed`, cause, { subject });
    }
  }

  encode(value: T, out: ByteWriter): void {
    const { writer } = this;
    if (writer === null) {
      throw new MillraceError(
        'MILL_SERDE_REGISTRY',
        `Serde ${this.name} has no schema to write with: give \`schema\`, or register one before the app starts`,
      );
    }
    out.writeByte(magicByte);
    out.writeInt32(this.writerId);
    if (writer.encode === undefined) {
      out.writeBytes(writer.toBuffer(value));
      return;
    }
    let end = writer.encode(value, out.buffer, out.length);
    if (end < 0) {
      out.ensure(out.buffer.length - out.length - end);
      end = writer.encode(value, out.buffer, out.length);
    }
    out.length = end;
  }

  decode(buffer: Buffer, start: number, end: number): T | Promise<T> {
    if (end - start < headerBytes || buffer[start] !== magicByte) {
      throw cannotDeserialize(this.name, buffer, start, end, new Error('no schema id: the bytes do not start with 0 and a 4-byte id'));
    }
    const id = buffer.readInt32BE(start + 1);
    const payload = buffer.subarray(start + headerBytes, end);
    const known = this.readers.get(id);
    if (known !== undefined) return read(known, payload) as T;
    const kept = Buffer.from(payload);
    return this.load(id).then((reader) => read(reader, kept) as T);
  }

  serialize(value: T): Uint8Array {
    const out = new ByteWriter(128);
    this.encode(value, out);
    return out.copy();
  }

  deserialize(bytes: Buffer): T | Promise<T> {
    return this.decode(bytes, 0, bytes.length);
  }

  private open(): Promise<RegistryClient> {
    this.client ??= openRegistry(this.options.registry);
    return this.client;
  }

  private async register(client: RegistryClient, subject: string, schema: object): Promise<number> {
    const { compatibility } = this.options;
    const { id } = await client.register(
      { type: this.type, schema: JSON.stringify(schema) },
      compatibility === undefined ? { subject } : { subject, compatibility },
    );
    return id;
  }

  private async latestId(client: RegistryClient, subject: string): Promise<number | null> {
    try {
      return await client.getLatestSchemaId(subject);
    } catch (error) {
      // A changelog or a topic nobody wrote to yet: the schema of another topic of this serde, if any, is used for writing.
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  private async loadVersions(client: RegistryClient, subject: string, latest: number): Promise<void> {
    await this.load(latest);
    for (let version = 1, gap = 0; gap < maxVersionGap; version++) {
      let id: number;
      try {
        id = await client.getRegistryId(subject, version);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        gap++;
        continue;
      }
      gap = 0;
      await this.load(id);
      if (id === latest) return;
    }
  }

  private load(id: number): Promise<ReaderSchema> {
    const known = this.readers.get(id);
    if (known !== undefined) return Promise.resolve(known);
    let pending = this.loading.get(id);
    if (pending === undefined) {
      pending = this.fetch(id).finally(() => this.loading.delete(id));
      this.loading.set(id, pending);
    }
    return pending;
  }

  private async fetch(id: number): Promise<ReaderSchema> {
    let schema: RegisteredSchema;
    try {
      const client = await this.open();
      schema = (await client.getSchema(id)) as RegisteredSchema;
    } catch (cause) {
      throw this.registryError(`Loading schema ${id} failed`, cause, { schemaId: id });
    }
    const reader = readerFor(schema, this.options.schema === undefined ? null : this.writer);
    this.readers.set(id, reader);
    return reader;
  }

  private registryError(what: string, cause: unknown, details: Record<string, unknown>): MillraceError {
    if (cause instanceof MillraceError) return cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new MillraceError('MILL_SERDE_REGISTRY', `${what}: ${reason}`, { cause, details: { serde: this.name, ...details } });
  }
}

function readerFor(written: RegisteredSchema, wanted: RegisteredSchema | null): ReaderSchema {
  if (wanted?.createResolver === undefined || wanted.equals?.(written) === true)
    return { schema: written, reader: written, resolver: undefined };
  return { schema: written, reader: wanted, resolver: wanted.createResolver(written) };
}

function read(from: ReaderSchema, payload: Buffer): unknown {
  return from.resolver === undefined ? from.schema.fromBuffer(payload) : from.reader.fromBuffer(payload, from.resolver);
}
