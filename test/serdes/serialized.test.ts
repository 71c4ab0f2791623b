import { describe, expect, it } from '@jest/globals';
import { ByteWriter } from '../../src/bytes/byte-writer.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { compileSerde } from '../../src/serdes/compile-serde.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka } from '../../src/testing/test-kafka.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** JSON, but for values that contain `bad`: those become what `wrong` gives. */
function faulty(wrong: (value: unknown) => unknown): Serde<string> {
  return {
    name: 'mine',
    serialize: (value) => (value.includes('bad') ? wrong(value) : Buffer.from(JSON.stringify(value))) as Uint8Array,
    deserialize: (bytes) => JSON.parse(bytes.toString()) as string,
  };
}

const wrongAnswers: [string, (value: unknown) => unknown, string][] = [
  ['a string', (value) => JSON.stringify(value), 'its serialize gave a string: it must give a Uint8Array'],
  ['a promise', async (value) => Promise.resolve(Buffer.from(JSON.stringify(value))), 'its serialize gave a promise'],
  ['a promise that rejects', async () => Promise.reject(new Error('later')), 'its serialize gave a promise'],
  ['undefined', () => undefined, 'its serialize gave undefined'],
  ['a number', () => 5, 'its serialize gave a number'],
  ['an array of numbers', () => [1, 2, 3], 'its serialize gave an object (Array)'],
  ['an ArrayBuffer', () => new ArrayBuffer(3), 'its serialize gave an object (ArrayBuffer)'],
];

describe('a serde whose serialize gives no bytes', () => {
  it.each(wrongAnswers)('but %s, is refused and leaves nothing behind', (_what, wrong, reason) => {
    const serde = compileSerde(faulty(wrong));
    const out = new ByteWriter();
    serde.encode('good', out);
    expect(() => serde.encode('bad', out)).toThrow(
      expect.objectContaining({ code: 'MILL_SERDE', message: expect.stringMatching(/^Serde mine cannot serialise string bad/) }),
    );
    expect(() => serde.encode('bad', out)).toThrow(reason);
    expect(out.copy().toString()).toBe('"good"');
  });

  it('or whose encode gives a promise, is refused', () => {
    const later = async (value: string, out: ByteWriter): Promise<void> => {
      await Promise.resolve();
      out.writeUtf8(value);
    };
    const asynchronous: object = { ...faulty(() => null), encode: later };
    expect(() => compileSerde(asynchronous as Serde<string>)).toThrow('Serde mine: its encode is async');
    const serde = { ...faulty(() => null), encode: ((value: string, out: ByteWriter) => later(value, out)) as never };
    expect(() => compileSerde(serde).encode('bad', new ByteWriter())).toThrow('its encode gave a promise');
  });

  it('may give a plain Uint8Array', () => {
    const out = new ByteWriter();
    compileSerde(faulty(() => new Uint8Array([1, 2]))).encode('bad', out);
    expect([...out.view()]).toEqual([1, 2]);
  });

  it('fails at the record that it was to write, as the serde of an output value, and the production handler is asked', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', text).to('out', { keySerde: serdes.string, valueSerde: faulty((value) => JSON.stringify(value)) });
    const asked: unknown[] = [];
    const driver = new TopologyTestDriver(builder.build(), {
      productionHandler: (error, { topic, offset, outputTopic }) => {
        asked.push([topic, offset, outputTopic, error.message.slice(0, 37)]);
        return 'continue';
      },
    });
    const input = driver.inputTopic('in', text);
    for (const value of ['1', 'bad', '2']) await input.pipe('k', value);
    expect(asked).toEqual([['in', 1, 'out', 'Serde mine cannot serialise string ba']]);
    expect(
      driver
        .outputTopic('out', text)
        .readAll()
        .map(({ value }) => value),
    ).toEqual(['"1"', '"2"']);
    await driver.close();
  });

  it.each([
    [
      'an output key',
      (serde: Serde<string>, builder: StreamsBuilder) => builder.stream('in', text).to('out', { ...text, keySerde: serde }),
    ],
    [
      'a repartition key',
      (serde: Serde<string>, builder: StreamsBuilder) =>
        builder
          .stream('in', text)
          .groupBy((value) => value, { name: 'g', keySerde: serde })
          .count({ materialized: { storeName: 'c' } }),
    ],
    [
      'a store key',
      (serde: Serde<string>, builder: StreamsBuilder) =>
        builder
          .stream('in', { ...text, keySerde: serdes.string })
          .groupByKey()
          .count({ materialized: { storeName: 'c', keySerde: serde } }),
    ],
    [
      'a store value',
      (serde: Serde<string>, builder: StreamsBuilder) =>
        builder
          .stream('in', text)
          .groupByKey()
          .reduce((_, value) => value, { materialized: { storeName: 'c', valueSerde: serde } }),
    ],
    [
      'an element of a list',
      (serde: Serde<string>, builder: StreamsBuilder) =>
        builder
          .stream('in', text)
          .mapValues((value): readonly string[] => [value])
          .to('out', { keySerde: serdes.string, valueSerde: serdes.list(serde) }),
    ],
  ])('fails as the serde of %s', async (_what, build) => {
    const builder = new StreamsBuilder();
    build(
      faulty((value) => JSON.stringify(value)),
      builder,
    );
    const driver = new TopologyTestDriver(builder.build());
    await expect(driver.inputTopic('in', text).pipe('bad', 'bad')).rejects.toThrow('Serde mine cannot serialise string bad');
    await driver.close().catch(() => undefined);
  });

  it('fails in the test driver’s own input topics', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', text).to('out');
    const driver = new TopologyTestDriver(builder.build());
    const serde = faulty((value) => JSON.stringify(value));
    await expect(driver.inputTopic('in', { ...text, valueSerde: serde }).pipe('k', 'bad')).rejects.toThrow(
      'its serialize gave a string: it must give a Uint8Array',
    );
    await expect(driver.inputTopic('in', text).pipeBytes(null, 'bad' as never)).rejects.toThrow(
      'pipeBytes: key and value must be a Buffer or null',
    );
    await driver.close();
  });

  it('stops an app at that record: nothing of it is committed, and the error names the record and the serde', async () => {
    const kafka = inMemoryKafka();
    kafka.createTopic('in', 1);
    kafka.createTopic('out', 1);
    const builder = new StreamsBuilder();
    builder
      .stream('in', text)
      .to('out', { ...text, valueSerde: faulty(async (value) => Promise.resolve(Buffer.from(JSON.stringify(value)))) });
    const app = kafka.app(builder.build(), { applicationId: 'mine' });
    const errors: Error[] = [];
    app.on('error', (error) => errors.push(error));
    await app.start();
    for (const value of ['1', 'bad', '2', 'bad']) await kafka.inputTopic('in', text).pipe('k', value);
    await kafka.until(() => errors.length > 0);
    expect(errors[0]).toMatchObject({ code: 'MILL_PRODUCTION', details: { topic: 'in', partition: 0, offset: 1 } });
    expect(errors[0]?.message).toContain(
      'can’t produce to out of in-0 at offset 1: Serde mine cannot serialise string bad: its serialize gave a promise',
    );
    expect(
      kafka
        .outputTopic('out', text)
        .readAll()
        .map(({ value }) => value),
    ).not.toContain('');
    await app.close();
  });
});
