import { describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import { sessionWindowedSerde } from '../../src/serdes/session-windowed.js';
import { Windowed } from '../../src/time/windowed.js';

describe('keys of sessions', () => {
  const serde = sessionWindowedSerde(serdes.string);
  const key = new Windowed('k', { start: 1, end: 258 });

  it('are the key, 8 bytes of end, 8 bytes of start', () => {
    expect(Buffer.from(serde.serialize(key)).toString('hex')).toBe('6b' + '0000000000000102' + '0000000000000001');
  });

  it('come back as they went', () => {
    expect(serde.deserialize(Buffer.from(serde.serialize(key)))).toEqual(key);
  });

  it('need 16 bytes at least', () => {
    expect(() => serde.deserialize(Buffer.alloc(15))).toThrow('MILL_SERDE');
  });
});
