import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { decodeCommittedMetadata, encodeCommittedMetadata, MAX_METADATA_BYTES } from '../../src/transactions/committed-metadata.js';

describe('the metadata of a committed offset', () => {
  it('comes back as it was written', () => {
    fc.assert(
      fc.property(fc.nat(), fc.option(fc.string({ maxLength: 200 })), fc.maxSafeInteger(), (epoch, transactionalId, partitionTime) => {
        const metadata = { epoch, transactionalId, partitionTime };
        expect(decodeCommittedMetadata(encodeCommittedMetadata(metadata))).toEqual(metadata);
      }),
    );
  });

  it('is compact and says its version', () => {
    expect(encodeCommittedMetadata({ epoch: 12, transactionalId: 'app-1', partitionTime: -1 })).toBe(
      'millrace1{"e":12,"p":-1,"t":"app-1"}',
    );
  });

  it('has the watermark of the task, when there is one', () => {
    const written = (watermark: number) =>
      decodeCommittedMetadata(encodeCommittedMetadata({ epoch: 1, transactionalId: null, partitionTime: 2, watermark }));
    expect(written(1_500)?.watermark).toBe(1_500);
    expect(written(Infinity)?.watermark).toBe(Infinity);
    expect(written(-Infinity)).toEqual({ epoch: 1, transactionalId: null, partitionTime: 2 });
  });

  it('has the id of the topic, when it is known', () => {
    const metadata = { epoch: 1, transactionalId: null, partitionTime: 2, topicId: 'ASNFZ4mrze8RIjNEVWZ3iA' };
    expect(decodeCommittedMetadata(encodeCommittedMetadata(metadata))).toEqual(metadata);
    expect(encodeCommittedMetadata({ ...metadata, topicId: null })).toBe('millrace1{"e":1,"p":2}');
  });

  it('has what upstream tasks have told, when they do', () => {
    const metadata = { epoch: 1, transactionalId: null, partitionTime: 2, watermark: 7, marks: '0:7:0,!5' };
    expect(decodeCommittedMetadata(encodeCommittedMetadata(metadata))).toEqual(metadata);
    expect(decodeCommittedMetadata('millrace1{"e":1,"p":2,"u":3}')).toEqual({ epoch: 1, transactionalId: null, partitionTime: 2 });
  });

  it('keeps fields that it does not know', () => {
    const read = decodeCommittedMetadata('millrace1{"e":1,"p":2,"w":[3]}');
    expect(read).toEqual({ epoch: 1, transactionalId: null, partitionTime: 2, extra: { w: [3] } });
    expect(decodeCommittedMetadata(encodeCommittedMetadata(read!))).toEqual(read);
  });

  it.each([
    null,
    '',
    'AgAAAY',
    '{"e":1,"p":2}',
    'millrace1',
    'millrace1{',
    'millrace1[]',
    'millrace1{"e":"1","p":2}',
    'millrace1{"e":1,"p":2,"t":5}',
  ])('of somebody else (%s) reads as null', (text) => {
    expect(decodeCommittedMetadata(text)).toBeNull();
  });

  it('longer than a broker takes is refused', () => {
    const extra = { x: 'y'.repeat(MAX_METADATA_BYTES) };
    expect(() => encodeCommittedMetadata({ epoch: 1, transactionalId: null, partitionTime: 0, extra })).toThrow(/MILL_INVARIANT/);
  });
});
