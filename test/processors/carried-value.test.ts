import { describe, expect, it } from '@jest/globals';
import { requireSame } from '../../src/processors/carried-value.js';

class Money {
  constructor(readonly cents: number) {}
  get euros(): number {
    return this.cents / 100;
  }
}

class Row {
  constructor(readonly name: string) {}
}

const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const throughClone = (value: unknown): unknown => structuredClone(value);
const self: { self?: object } = {};
self.self = self;

describe('what a serde gives back', () => {
  it.each<[string, unknown]>([
    ['texts and numbers', ['a', 0, -0, 1.5, true, null]],
    ['plain objects', { name: 'a', tags: [{ id: 1 }], none: null }],
    ['objects without a prototype', Object.assign(Object.create(null) as object, { name: 'a' })],
    ['undefined fields, which are no loss', { name: 'a', left: undefined }],
    ['instances without methods', new Row('a')],
  ])('JSON carries %s', (_what, given) => {
    expect(() => requireSame(given, throughJson(given), 'json')).not.toThrow();
  });

  it.each<[string, unknown, RegExp]>([
    ['NaN', NaN, /serde json makes null of NaN: give one that carries it/],
    ['a Map', new Map([['n', 1]]), /makes a plain object of an instance of Map/],
    ['a Set', { tags: new Set(['a']) }, /of an instance of Set \(at tags\)/],
    ['a Date', { at: [{ day: new Date(0) }] }, /makes a string of an instance of Date \(at at\[0\].day\)/],
    ['bytes', { bytes: Buffer.from('a') }, /\(at bytes\)/],
    ['an instance of a class', new Money(5), /makes a plain object of an instance of Money/],
    ['a function', { run: () => 1 }, /makes undefined of a function \(at run\)/],
    ['undefined in a list', [undefined], /makes null of undefined \(at \[0\]\)/],
  ])('JSON does not carry %s', (_what, given, message) => {
    expect(() => requireSame(given, throughJson(given), 'json')).toThrow(message);
  });

  it.each<[string, unknown]>([
    ['a Map', new Map<unknown, unknown>([['n', { deep: new Map([[1, 2]]) }]])],
    ['a Set', new Set(['a', 'b'])],
    ['a Date', { at: new Date(5) }],
    ['bytes', new Uint8Array([1, 2])],
    ['NaN and big numbers', [NaN, Infinity, 10n]],
    ['what holds itself', self],
  ])('a clone carries %s', (_what, given) => {
    expect(() => requireSame(given, throughClone(given), 'clone')).not.toThrow();
  });

  it.each<[string, unknown, unknown]>([
    ['another entry of a Map', new Map([['n', 1]]), new Map([['n', 2]])],
    ['a Map that has become shorter', new Map([['n', 1]]), new Map()],
    ['another day', new Date(5), new Date(6)],
    ['other bytes', Buffer.from('a'), Buffer.from('b')],
    ['a field that is lost', { a: 1, b: null }, { a: 1 }],
  ])('%s is no longer the same', (_what, given, back) => {
    expect(() => requireSame(given, back, 'x')).toThrow(/serde x makes/);
  });

  it('a schema may add fields and have numbers of its own precision', () => {
    expect(() => requireSame({ rate: 0.1 }, { rate: Math.fround(0.1), unit: 'EUR' }, 'avro')).not.toThrow();
  });
});
