import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { silentLogger } from '../../src/observability/logger.js';
import { EngineMemory, engineShare, engineSizes, leastEngineBytes, type EngineClaim } from '../../src/stores/engine-memory.js';

const mebibyte = 2 ** 20;

describe('the share of a database', () => {
  it('is an equal part of what is free, with one more left for who comes later', () => {
    expect(engineShare(50 * mebibyte, 4)).toBe(10 * mebibyte);
    expect(engineShare(40 * mebibyte, 3)).toBe(10 * mebibyte);
  });

  it('is never below the least that LevelDB works with', () => {
    expect([0, -5 * mebibyte, 1000].map((free) => engineShare(free, 1))).toEqual(Array(3).fill(leastEngineBytes));
  });
});

describe('the sizes of a database', () => {
  it('are a quarter for each of two write buffers, and half for the cache', () => {
    expect(engineSizes(24 * mebibyte)).toEqual({ writeBufferSize: 6 * mebibyte, blockCacheSize: 12 * mebibyte });
    expect(engineSizes(leastEngineBytes)).toEqual({ writeBufferSize: 64 * 1024, blockCacheSize: 128 * 1024 });
  });

  it('leave the cache what is beyond the largest write buffers', () => {
    expect(engineSizes(100 * mebibyte)).toEqual({ writeBufferSize: 16 * mebibyte, blockCacheSize: 68 * mebibyte });
  });

  it('are never more than the share', () => {
    fc.assert(
      fc.property(fc.integer({ min: leastEngineBytes, max: 2 ** 40 }), (bytes) => {
        const { writeBufferSize, blockCacheSize } = engineSizes(bytes);
        expect(2 * writeBufferSize + blockCacheSize).toBeLessThanOrEqual(bytes);
        expect(blockCacheSize).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('the memory of all databases', () => {
  it('is never exceeded, however they come and go, as long as their least fits in', () => {
    const total = 16 * mebibyte;
    const step = fc.record({ come: fc.integer({ min: 0, max: 5 }), go: fc.array(fc.nat(), { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const memory = new EngineMemory(total, silentLogger);
        const open: EngineClaim[] = [];
        for (const { come, go } of steps) {
          for (const which of go) open.splice(which % Math.max(1, open.length), 1)[0]?.giveBack();
          for (let left = Math.min(come, 8 - open.length); left > 0; left--) open.push(memory.claim(left));
          expect(memory.used).toBeLessThanOrEqual(total);
          expect(memory.used).toBe(open.reduce((sum, { engineBytes }) => sum + engineBytes, 0));
        }
      }),
    );
  });

  it('is exceeded only by the least of many databases, and says so once', () => {
    const warnings: object[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
    const memory = new EngineMemory(4 * leastEngineBytes, logger);
    for (let left = 6; left > 0; left--) memory.claim(left);
    expect(memory.used).toBe(6 * leastEngineBytes);
    expect(warnings).toEqual([{ databases: 5, bytes: 5 * leastEngineBytes, storeEngineMaxBytes: 4 * leastEngineBytes }]);
  });

  it('takes back once what is given back twice', () => {
    const memory = new EngineMemory(8 * mebibyte, silentLogger);
    const [first] = [memory.claim(1), memory.claim(1)];
    first.giveBack();
    first.giveBack();
    expect(memory.used).toBe(2 * mebibyte);
  });
});
