import { types } from 'node:util';
import type { ByteWriter } from '../bytes/byte-writer.js';
import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { CompiledSerde, Serde } from './serde.js';
import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { encodedAtOnce, serialized } from './serialized.js';

/**
 * Fills in the fast paths of a serde. Whatever the serde throws comes out as MILL_SERDE (a serde's own MillraceError as it is) and says what the
 * serde got; topic, partition and offset are added by the caller, who knows them.
 */
export function compileSerde<T>(serde: Serde<T>, explain: Explain = asItIs): CompiledSerde<T> {
  return new GuardedSerde(withFastPaths(serde), explain);
}

/** Adds to an error what whoever uses the serde knows: of which store it is, say. */
export type Explain = (error: MillraceError, doing: 'encode' | 'decode') => MillraceError;

const asItIs: Explain = (error) => error;

/** As users write them: types don't keep an `encode` from giving a promise. */
type GivenSerde<T> = Omit<Serde<T>, 'encode'> & { encode?(value: T, out: ByteWriter): unknown };
type FastSerde<T> = GivenSerde<T> & Required<Pick<GivenSerde<T>, 'encode' | 'decode'>>;

function withFastPaths<T>(serde: Serde<T>): FastSerde<T> {
  // At a record it would be too late to refuse it: what it writes after that stands between other records.
  if (types.isAsyncFunction((serde as { readonly encode?: unknown }).encode)) {
    throw new MillraceError('MILL_SERDE', `Serde ${serde.name}: its encode is async, and must write its bytes at once`, {
      details: { serde: serde.name },
    });
  }
  if (serde.encode !== undefined && serde.decode !== undefined) return serde as FastSerde<T>;
  return new CompletedSerde(serde);
}

/** One class for all serdes keeps the call sites of stores, sources and sinks monomorphic. */
class GuardedSerde<T> implements CompiledSerde<T> {
  readonly name: string;
  readonly valueIsIdentity: boolean;
  readonly total: boolean;

  constructor(
    readonly serde: FastSerde<T>,
    private readonly explain: Explain,
  ) {
    this.name = serde.name;
    this.valueIsIdentity = serde.valueIsIdentity ?? false;
    this.total = serde.total ?? false;
  }

  encode(value: T, out: ByteWriter): void {
    const start = out.length;
    try {
      encodedAtOnce(this.serde.encode(value, out));
    } catch (error) {
      out.length = start;
      throw this.explain(cannotSerialize(this.name, value, error), 'encode');
    }
  }

  decode(buffer: Buffer, start: number, end: number): T | Promise<T> {
    let value: T | Promise<T>;
    try {
      value = this.serde.decode(buffer, start, end);
    } catch (error) {
      throw this.explain(cannotDeserialize(this.name, buffer, start, end, error), 'decode');
    }
    if (!isPromiseLike(value)) return value;
    const shown = Buffer.from(buffer.subarray(start, end));
    return value.then(undefined, (error: unknown) => {
      throw this.explain(cannotDeserialize(this.name, shown, 0, shown.length, error), 'decode');
    });
  }

  decodeSync(buffer: Buffer, start: number, end: number): T {
    let value: T | Promise<T>;
    try {
      value = this.serde.decode(buffer, start, end);
    } catch (error) {
      throw this.explain(cannotDeserialize(this.name, buffer, start, end, error), 'decode');
    }
    if (!isPromiseLike(value)) return value;
    // Nobody awaits it: a rejection must not become an unhandled one.
    value.then(undefined, () => undefined);
    const promised = `Serde ${this.name} gave a promise where the value is needed at once (in a store)`;
    throw this.explain(new MillraceError('MILL_SERDE', promised, { details: { serde: this.name } }), 'decode');
  }
}

class CompletedSerde<T> implements FastSerde<T> {
  readonly name: string;
  readonly valueIsIdentity: boolean;
  readonly total: boolean;

  constructor(private readonly inner: GivenSerde<T>) {
    this.name = inner.name;
    this.valueIsIdentity = inner.valueIsIdentity ?? false;
    this.total = inner.total ?? false;
  }

  serialize(value: T): Uint8Array {
    return serialized(this.inner, value);
  }

  deserialize(bytes: Buffer): T | Promise<T> {
    return this.inner.deserialize(bytes);
  }

  async prepare(use: { topic: string; part: 'key' | 'value' }): Promise<void> {
    await this.inner.prepare?.(use);
  }

  encode(value: T, out: ByteWriter): void {
    if (this.inner.encode === undefined) out.writeBytes(serialized(this.inner, value));
    else encodedAtOnce(this.inner.encode(value, out));
  }

  decode(buffer: Buffer, start: number, end: number): T | Promise<T> {
    if (this.inner.decode === undefined) return this.inner.deserialize(buffer.subarray(start, end));
    return this.inner.decode(buffer, start, end);
  }
}
