/**
 * One request type of Kafka's protocol: its key, the versions that we speak, and how to write and read them.
 *
 * Versions are negotiated per broker (a cluster may be half way through an upgrade): the highest one that both sides have.
 * Both ends of the broker's range count, since new brokers drop old versions (KIP-896).
 */
import { MillraceError } from '../../errors.js';
import type { WireReader } from './wire-reader.js';
import type { WireWriter } from './wire-writer.js';

export interface Api<Request, Response> {
  readonly key: number;
  readonly name: string;
  readonly minVersion: number;
  readonly maxVersion: number;
  /** First version with compact lengths and tagged fields. */
  readonly flexibleFrom: number;
  /** ApiVersions alone answers with a header without tagged fields, so that any client can read it. */
  readonly plainResponseHeader?: boolean;
  encode(out: WireWriter, version: number, request: Request): void;
  decode(input: WireReader, version: number): Response;
}

export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

/** What one broker said in its ApiVersions answer. */
export type BrokerVersions = ReadonlyMap<number, VersionRange>;

type ApiRange = Pick<Api<never, unknown>, 'key' | 'name' | 'minVersion' | 'maxVersion'>;

/** The version to use, or -1 when the ranges have nothing in common. `maxVersion` may narrow ours for one call. */
export function commonVersion(api: ApiRange, broker: BrokerVersions, maxVersion = api.maxVersion): number {
  const range = broker.get(api.key);
  if (range === undefined) return -1;
  const version = Math.min(Math.min(maxVersion, api.maxVersion), range.max);
  return version >= Math.max(api.minVersion, range.min) ? version : -1;
}

/** As `commonVersion`; throws MILL_BROKER_TOO_OLD when there is none. */
export function negotiate(api: ApiRange, broker: BrokerVersions, brokerName: string, maxVersion = api.maxVersion): number {
  const version = commonVersion(api, broker, maxVersion);
  if (version >= 0) return version;
  const range = broker.get(api.key);
  const theirs = range === undefined ? 'does not have it' : `has versions ${range.min}–${range.max}`;
  throw new MillraceError(
    'MILL_BROKER_TOO_OLD',
    `${api.name} is needed in versions ${api.minVersion}–${Math.min(maxVersion, api.maxVersion)}, but broker ${brokerName} ${theirs}.`,
    {
      details: { api: api.name, ours: { min: api.minVersion, max: api.maxVersion }, theirs: range ?? null, broker: brokerName },
    },
  );
}
