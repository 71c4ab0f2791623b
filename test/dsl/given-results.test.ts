/** Mapping functions in plain JavaScript that forget their `return`, or give one thing where several are meant: nothing of it is written. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KStream } from '../../src/dsl/kstream.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { strings } from './run-topology.js';

type Texts = KStream<string, string>;
type Declare = (stream: Texts, gives: () => never) => Texts;

const named = { name: 'made', ...strings };
const value = { name: 'made', valueSerde: serdes.string };
const operators: Record<string, Declare> = {
  map: (stream, gives) => stream.map<string, string>(gives, named),
  mapAsync: (stream, gives) => stream.mapAsync<string, string>(gives, named),
  mapValues: (stream, gives) => stream.mapValues<string>(gives, value),
  mapValuesAsync: (stream, gives) => stream.mapValuesAsync<string>(gives, value),
  flatMap: (stream, gives) => stream.flatMap<string, string>(gives, named),
  flatMapAsync: (stream, gives) => stream.flatMapAsync<string, string>(gives, named),
  flatMapValues: (stream, gives) => stream.flatMapValues<string>(gives, value),
  flatMapValuesAsync: (stream, gives) => stream.flatMapValuesAsync<string>(gives, value),
};

/** What the operator writes of a record, or the message of the error that ends it. */
async function result(declare: Declare, gives: unknown, later: boolean): Promise<unknown> {
  const builder = new StreamsBuilder();
  declare(builder.stream('in', strings), (() => (later ? Promise.resolve(gives) : gives)) as () => never).to('out', strings);
  const driver = new TopologyTestDriver(builder.build());
  const out = driver.outputTopic('out', strings);
  try {
    await driver.inputTopic('in', strings).pipe('k', 'v', { timestamp: 1 });
    await driver.commit();
    await driver.close();
    return out.readAll().map((record) => [record.key, record.value]);
  } catch (error) {
    await driver.close().catch(() => undefined);
    return (error as Error).message;
  }
}

const pair = 'it must give an array of key and value';
const list = 'it must give an array of results, empty for none';
const cases: readonly (readonly [operator: string, gives: unknown, message: string])[] = [
  ['map', undefined, `map: the mapper gave undefined: ${pair}`],
  ['map', 'ab', `map: the mapper gave a string: ${pair}`],
  ['map', null, `map: the mapper gave null: ${pair}`],
  ['map', ['a'], 'map: the mapper (as key or value) gave undefined'],
  ['mapAsync', undefined, `mapAsync: the mapper gave undefined: ${pair}`],
  ['mapAsync', 'ab', `mapAsync: the mapper gave a string: ${pair}`],
  ['mapAsync', 5, `mapAsync: the mapper gave 5: ${pair}`],
  ['mapAsync', ['a'], 'mapAsync: the mapper (as key or value) gave undefined'],
  ['mapValues', undefined, 'mapValues: the mapper gave undefined'],
  ['mapValuesAsync', undefined, 'mapValuesAsync: the mapper gave undefined'],
  ['flatMap', 'ab', `flatMap: the mapper gave a string: ${list}`],
  ['flatMap', ['ab'], `flatMap: the mapper, in its array, gave a string: ${pair}`],
  ['flatMap', {}, `flatMap: the mapper gave a plain object: ${list}`],
  ['flatMap', undefined, `flatMap: the mapper gave undefined: ${list}`],
  ['flatMapAsync', undefined, `flatMapAsync: the mapper gave undefined: ${list}`],
  ['flatMapAsync', [['a', undefined]], 'flatMapAsync: the mapper, in its array, (as key or value) gave undefined'],
  ['flatMapAsync', 'ab', `flatMapAsync: the mapper gave a string: ${list}`],
  ['flatMapValues', undefined, `flatMapValues: the mapper gave undefined: ${list}`],
  ['flatMapValues', 'ab', `flatMapValues: the mapper gave a string: ${list}`],
  ['flatMapValues', ['a', undefined], 'flatMapValues: the mapper, in its array, gave undefined'],
  ['flatMapValuesAsync', 'ab', `flatMapValuesAsync: the mapper gave a string: ${list}`],
  ['flatMapValuesAsync', [undefined], 'flatMapValuesAsync: the mapper, in its array, gave undefined'],
];

describe.each([
  ['at once', false],
  ['as a promise', true],
])('a function that answers %s', (_how, later) => {
  it.each(cases)('%s: %j is refused', async (operator, gives, message) => {
    expect(await result(operators[operator] as Declare, gives, later)).toEqual(expect.stringContaining(message));
  });

  it('may give null for no value', async () => {
    expect(await result(operators['mapValuesAsync'] as Declare, null, later)).toEqual([['k', null]]);
    expect(await result(operators['mapAsync'] as Declare, ['a', null], later)).toEqual([['a', null]]);
    expect(await result(operators['flatMapValues'] as Declare, new Set(['a', 'b']), later)).toEqual([
      ['k', 'a'],
      ['k', 'b'],
    ]);
    expect(await result(operators['flatMapAsync'] as Declare, [], later)).toEqual([]);
  });
});
