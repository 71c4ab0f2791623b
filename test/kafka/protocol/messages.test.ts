import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';

import { WireReader } from '../../../src/kafka/protocol/wire-reader.js';
import { WireWriter } from '../../../src/kafka/protocol/wire-writer.js';
import { samples } from './samples.js';

interface Vector {
  readonly api: string;
  readonly kind: 'request' | 'response';
  readonly version: number;
  readonly hex: string;
}

const { vectors } = JSON.parse(readFileSync(new URL('kafka-4.4-messages.json', import.meta.url), 'utf8')) as { vectors: Vector[] };

describe('protocol messages, byte for byte as the Java client of Kafka 4.4 writes them', () => {
  for (const { api, request, response } of samples) {
    const versions = (kind: Vector['kind']): number[] =>
      vectors.filter((vector) => vector.api === api.name && vector.kind === kind).map((vector) => vector.version);
    const hexOf = (kind: Vector['kind'], version: number): string =>
      vectors.find((vector) => vector.api === api.name && vector.kind === kind && vector.version === version)!.hex;

    it(`${api.name}: there is a vector for both ends of the version range`, () => {
      for (const kind of ['request', 'response'] as const)
        expect(versions(kind)).toEqual(expect.arrayContaining([api.minVersion, api.maxVersion]));
    });

    it.each(versions('request'))(`${api.name} request v%i`, (version) => {
      const out = new WireWriter(version >= api.flexibleFrom);
      api.encode(out, version, request as never);
      expect(out.view().toString('hex')).toBe(hexOf('request', version));
    });

    it.each(versions('response'))(`${api.name} response v%i`, (version) => {
      const input = new WireReader(Buffer.from(hexOf('response', version), 'hex'), version >= api.flexibleFrom);
      expect(api.decode(input, version)).toEqual(response(version));
      expect(input.remaining).toBe(0);
    });
  }
});
