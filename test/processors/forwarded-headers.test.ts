import { describe, expect, it } from '@jest/globals';
import type { Headers } from '../../src/bytes/headers.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { ProcessorContext, Record } from '../../src/processors/processor.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** Forwards `bad` with these headers, all others as they are. */
function driverWith(headers: unknown, config: TestDriverConfig = {}): TopologyTestDriver {
  const builder = new StreamsBuilder();
  const supplier = () => {
    let context: ProcessorContext<string, string>;
    return {
      init: (given: ProcessorContext<string, string>) => {
        context = given;
      },
      process: (record: Record<string, string>) =>
        context.forward(record.value === 'bad' ? { ...record, headers: headers as Headers } : record),
    };
  };
  builder
    .stream('in', text)
    .process<string, string>(supplier, { name: 'mine', ...text })
    .to('out');
  return new TopologyTestDriver(builder.build(), config);
}

const wrongHeaders: [string, unknown, string][] = [
  ['a text as value', [{ key: 'a', value: 'hello' }], 'the value of header a must be a Buffer or null, not a string'],
  ['a number as value', [{ key: 'a', value: 5 }], 'the value of header a must be a Buffer or null, not 5'],
  ['no value', [{ key: 'a' }], 'the value of header a must be a Buffer or null, not undefined'],
  ['a number as key', [{ key: 5, value: Buffer.from('x') }], 'the key of a header must be a string, not 5'],
  ['an object in place of the list', { a: 'b' }, 'headers must be an array of { key, value }, not an object'],
  ['a pair in place of a header', ['a'], 'a header must be an object of key and value, not a string'],
];

describe('headers that a processor forwards', () => {
  it.each(wrongHeaders)('with %s fail the record, and the processing handler is asked', async (_what, headers, reason) => {
    const asked: unknown[] = [];
    const driver = driverWith(headers, {
      processingHandler: (error, { node, offset }) => {
        asked.push([node, offset, error.message]);
        return 'continue';
      },
    });
    const input = driver.inputTopic('in', text);
    for (const value of ['1', 'bad', '2', 'bad']) await input.pipe('k', value);
    expect(asked).toEqual([1, 3].map((offset) => ['mine', offset, `forward: ${reason}`]));
    expect(
      driver
        .outputTopic('out', text)
        .readAll()
        .map(({ value }) => value),
    ).toEqual(['1', '2']);
    await driver.close();
  });

  it('may be bytes or null', async () => {
    const driver = driverWith([
      { key: 'a', value: null },
      { key: 'b', value: new Uint8Array([1, 2]) },
    ]);
    await driver.inputTopic('in', text).pipe('k', 'bad');
    expect(driver.outputTopic('out', text).readAll()[0]?.headers).toEqual([
      { key: 'a', value: null },
      { key: 'b', value: Buffer.from([1, 2]) },
    ]);
    await driver.close();
  });

  it.each(wrongHeaders)('and those that a test pipes are refused with %s', async (_what, headers, reason) => {
    const driver = driverWith([]);
    await expect(driver.inputTopic('in', text).pipe('k', 'v', { headers: headers as Headers })).rejects.toMatchObject({
      code: 'MILL_CONFIG_INVALID',
      message: expect.stringMatching(Array.isArray(headers) ? reason : 'the option headers must be'),
    });
    await driver.close();
  });
});
