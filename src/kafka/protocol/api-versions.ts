import type { Api, BrokerVersions, VersionRange } from './api.js';

export interface ApiVersionsResponse {
  readonly errorCode: number;
  readonly versions: BrokerVersions;
  /** Feature → level that the cluster has finalised (KIP-584). */
  readonly finalizedFeatures: ReadonlyMap<string, number>;
}

const FINALIZED_FEATURES_TAG = 2;

/** Version 3 tells the cluster's features; a broker that lacks it answers 35 in the form of version 0. */
export const apiVersions: Api<{ readonly softwareName: string; readonly softwareVersion: string }, ApiVersionsResponse> = {
  key: 18,
  name: 'ApiVersions',
  minVersion: 0,
  maxVersion: 3,
  flexibleFrom: 3,
  plainResponseHeader: true,

  encode(out, version, request) {
    if (version < 3) return;
    out.writeString(request.softwareName);
    out.writeString(request.softwareVersion);
    out.endStruct();
  },

  decode(input, version) {
    const errorCode = input.readInt16();
    const versions = new Map<number, VersionRange>();
    const finalizedFeatures = new Map<string, number>();
    if (errorCode !== 0) return { errorCode, versions, finalizedFeatures };
    input.readArray(() => {
      versions.set(input.readInt16(), { min: input.readInt16(), max: input.readInt16() });
      input.endStruct();
    });
    if (version >= 1) input.readInt32();
    input.endStruct((tag, field) => {
      if (tag !== FINALIZED_FEATURES_TAG) return;
      field.readArray(() => {
        finalizedFeatures.set(field.readString(), field.readInt16());
        field.readInt16();
        field.endStruct();
      });
    });
    return { errorCode, versions, finalizedFeatures };
  },
};
