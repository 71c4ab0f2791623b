import { describe, expect, it } from '@jest/globals';

import { decodeResponse, encodeRequest } from '../../../src/kafka/protocol/frame.js';
import { heartbeat } from '../../../src/kafka/protocol/heartbeat.js';
import { apiVersions } from '../../../src/kafka/protocol/api-versions.js';
import { produce } from '../../../src/kafka/protocol/produce.js';
import { WireReader } from '../../../src/kafka/protocol/wire-reader.js';

const member = { groupId: 'g', memberId: 'm', generation: 1, groupInstanceId: null };

describe('frames', () => {
  it('have the size in front and a plain header for plain versions', () => {
    const frame = Buffer.concat(encodeRequest(heartbeat, 3, 9, 'cli', member).parts);
    expect(frame.readInt32BE(0)).toBe(frame.length - 4);
    expect([frame.readInt16BE(4), frame.readInt16BE(6), frame.readInt32BE(8)]).toEqual([12, 3, 9]);
    expect(frame.toString('latin1', 14, 17)).toBe('cli');
    expect(frame.readInt16BE(17)).toBe(1);
  });

  it('end the header of flexible versions with tagged fields, the client id keeping its two-byte length', () => {
    const frame = Buffer.concat(encodeRequest(heartbeat, 4, 9, 'cli', member).parts);
    expect(frame.readInt16BE(12)).toBe(3);
    expect(frame[17]).toBe(0);
    expect(frame[18]).toBe(2);
  });

  it('carry record batches by reference', () => {
    const batch = Buffer.alloc(100_000, 7);
    const request = {
      transactionalId: null,
      acks: -1,
      timeoutMs: 1,
      partitions: [{ topic: 't', partition: 0, records: [batch] }],
    } as const;
    const { parts } = encodeRequest(produce, 9, 1, 'cli', request);
    expect(parts.filter((part) => part === batch)).toHaveLength(1);
    const whole = Buffer.concat(parts);
    expect(whole.readInt32BE(0)).toBe(whole.length - 4);
  });

  it('skip the tagged fields of a flexible answer’s header, except for ApiVersions', () => {
    expect(decodeResponse(heartbeat, 4, Buffer.from([0, 0, 0, 0, 0, 0, 27, 0])).errorCode).toBe(27);
    expect(decodeResponse(apiVersions, 3, Buffer.from([0, 35])).errorCode).toBe(35);
  });

  it('of which a field is missing throw instead of reading past the end', () => {
    expect(() => decodeResponse(heartbeat, 4, Buffer.from([0, 0, 0]))).toThrow(RangeError);
  });
});

describe('WireReader', () => {
  it('skips unknown tagged fields', () => {
    const input = new WireReader(Buffer.from([2, 0, 1, 9, 7, 2, 8, 8, 5]), true);
    const seen: number[] = [];
    input.endStruct((tag, field) => seen.push(tag, field.remaining));
    expect(seen).toEqual([0, 1, 7, 2]);
    expect(input.readInt8()).toBe(5);
  });

  it('gives bytes as views', () => {
    const response = Buffer.from([0, 0, 0, 2, 1, 2]);
    const bytes = new WireReader(response, false).readSizedBytes();
    response[4] = 99;
    expect([...bytes]).toEqual([99, 2]);
  });
});
