import { describe, expect, it } from '@jest/globals';
import { toJsonValue } from '../../src/query-server/json-value.js';
import { keyFromText } from '../../src/query-server/key-text.js';

describe('values as JSON', () => {
  it.each<[unknown, unknown]>([
    [12345678901234567890n, '12345678901234567890'],
    [Buffer.from([0, 1, 255]), 'AAH/'],
    [new Uint8Array([1, 2, 3]).subarray(1), 'AgM='],
    [NaN, 'NaN'],
    [-Infinity, '-Infinity'],
    [undefined, null],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Map([['a', 1n]]), [['a', '1']]],
    [new Set([1, 2]), [1, 2]],
    [{ a: [1n, { b: undefined, c: null }] }, { a: ['1', { c: null }] }],
  ])('%p is %p', (value, json) => {
    expect(toJsonValue(value)).toEqual(json);
  });
});

describe('keys in URLs', () => {
  it.each<[string, string, unknown]>([
    ['', 'string', ''],
    ['12', 'string', '12'],
    ['-12', 'int32', -12],
    ['9223372036854775807', 'int64', 9223372036854775807n],
    ['1.5', 'double', 1.5],
    ['true', 'boolean', true],
    ['AAH_', 'bytes', Buffer.from([0, 1, 255])],
    ['', 'bytes', Buffer.alloc(0)],
    ['{"a":1}', 'json', { a: 1 }],
    ['"x"', 'avro(x)', 'x'],
  ])('%p for %s is %p', (text, serde, key) => {
    expect(keyFromText(text, serde, 'key')).toEqual(key);
  });

  it.each([
    ['x', 'int32'],
    ['1.5', 'int64'],
    ['', 'double'],
    ['yes', 'boolean'],
    ['?', 'bytes'],
    ['{', 'json'],
  ])('%p is no %s', (text, serde) => {
    expect(() => keyFromText(text, serde, 'key')).toThrow(expect.objectContaining({ code: 'MILL_QUERY_INVALID' }));
  });
});
