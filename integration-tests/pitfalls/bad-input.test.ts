import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type MillraceError,
  serdes,
  StreamsBuilder,
  type Processor,
  type ProcessorContext,
  type StreamsConfig,
  type Topology,
} from '../../src/index.js';
import { timestampedKeyValueStore } from '../../src/stores/store-builders.js';
import { until } from '../faults/until.js';
import { failureOf, Scenario, text } from './scenario.js';

const scenarios: Scenario[] = [];
afterEach(async () => {
  for (const scenario of scenarios.splice(0)) await scenario.end();
});

async function begin(name: string): Promise<Scenario> {
  const scenario = await Scenario.begin(name);
  scenarios.push(scenario);
  return scenario;
}

/** Whole numbers from one topic to another. */
function passThrough(from: string, to: string): Topology {
  const builder = new StreamsBuilder();
  builder.stream(from, { keySerde: serdes.string, valueSerde: serdes.int32 }).to(to);
  return builder.build();
}

const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const rows = timestampedKeyValueStore({ name: 'rows', keySerde: serdes.string, valueSerde: serdes.string });

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('an app that can’t be right says so before it works', () => {
  it('every fault of the configuration at once: MILL_CONFIG_INVALID', async () => {
    const scenario = await begin('config');
    const topic = await scenario.topic('in');
    const config = {
      applicationId: 'a b',
      commitInterval: -1,
      deserializationHandler: 'deadLetter',
      sessionTimeot: 1,
    } as unknown as StreamsConfig;
    const error = thrownBy(() => scenario.app(passThrough(topic, topic), config)) as MillraceError;
    expect(error).toMatchObject({ code: 'MILL_CONFIG_INVALID' });
    for (const fault of ['applicationId', 'commitInterval', 'deadLetterTopic', 'sessionTimeot']) expect(error.message).toContain(fault);
    expect(error.details['faults']).toHaveLength(4);
  });

  it('a missing source topic: MILL_TOPIC_MISSING, naming it', async () => {
    const scenario = await begin('missing');
    const app = scenario.app(passThrough(`${scenario.id}-nowhere`, `${scenario.id}-out`));
    await expect(app.start()).rejects.toMatchObject({
      code: 'MILL_TOPIC_MISSING',
      message: expect.stringContaining(`${scenario.id}-nowhere`),
    });
    expect(app.state).toBe('error');
  });

  it('a missing output topic: MILL_TOPIC_MISSING, naming it', async () => {
    const scenario = await begin('missing-output');
    const app = scenario.app(passThrough(await scenario.topic('in'), `${scenario.id}-nowhere`));
    await expect(app.start()).rejects.toMatchObject({
      code: 'MILL_TOPIC_MISSING',
      message: expect.stringContaining(`${scenario.id}-nowhere`),
    });
  });

  it('a missing output topic that a record chooses: MILL_TOPIC_MISSING when it does', async () => {
    const scenario = await begin('missing-choice');
    const input = await scenario.topic('in');
    const builder = new StreamsBuilder();
    builder.stream(input, { keySerde: serdes.string, valueSerde: serdes.int32 }).to((_, key) => `${scenario.id}-${key}`);
    const app = await scenario.running(builder.build());
    const failure = failureOf(app);
    await scenario.write(input, [{ key: 'nowhere', value: number(1) }]);
    expect(await failure).toMatchObject({ code: 'MILL_TOPIC_MISSING', message: expect.stringContaining(`${scenario.id}-nowhere`) });
  });

  it('unequal partitions of topics that are joined: MILL_TOPOLOGY_NOT_COPARTITIONED, naming topics and counts', async () => {
    const scenario = await begin('unequal');
    const [stream, table, out] = [await scenario.topic('stream', 2), await scenario.topic('table', 3), await scenario.topic('out')];
    const builder = new StreamsBuilder();
    const rows = builder.table(table, { keySerde: serdes.string, valueSerde: serdes.string });
    builder
      .stream(stream, { keySerde: serdes.string, valueSerde: serdes.string })
      .join(rows, (a, b) => a + b)
      .to(out, { valueSerde: serdes.string });
    const app = scenario.app(builder.build());
    await expect(app.start()).rejects.toMatchObject({ code: 'MILL_TOPOLOGY_NOT_COPARTITIONED' });
    await expect(scenario.app(builder.build()).start()).rejects.toThrow(new RegExp(`(?=.*${stream}.*2)(?=.*${table}.*3)`));
  });

  it('an internal topic with another partition count: MILL_TOPIC_INCOMPATIBLE', async () => {
    const scenario = await begin('incompatible');
    const input = await scenario.topic('in', 2);
    await scenario.topic('counts-changelog', 5);
    const builder = new StreamsBuilder();
    builder
      .stream(input, { keySerde: serdes.string, valueSerde: serdes.string })
      .groupByKey()
      .count({ materialized: { storeName: 'counts' } });
    await expect(scenario.app(builder.build()).start()).rejects.toMatchObject({ code: 'MILL_TOPIC_INCOMPATIBLE' });
  });

  it('a name given twice: MILL_TOPOLOGY_DUPLICATE_NAME', () => {
    const builder = new StreamsBuilder();
    const stream = builder.stream('in', { keySerde: serdes.string, valueSerde: serdes.string });
    const build = (): void => {
      stream.filter(() => true, { name: 'twice' }).filter(() => true, { name: 'twice' });
      builder.build();
    };
    expect(thrownBy(build)).toMatchObject({ code: 'MILL_TOPOLOGY_DUPLICATE_NAME', message: expect.stringContaining('twice') });
  });

  it('a store that no processor names: MILL_TOPOLOGY_STORE_NOT_CONNECTED when it is built', () => {
    const builder = new StreamsBuilder();
    builder.addStateStore(rows);
    builder.stream('in', { keySerde: serdes.string, valueSerde: serdes.string }).foreach(() => undefined);
    expect(thrownBy(() => builder.build())).toMatchObject({
      code: 'MILL_TOPOLOGY_STORE_NOT_CONNECTED',
      message: expect.stringContaining('rows'),
    });
  });

  it.each([
    ['that it did not name', 'rows', 'MILL_TOPOLOGY_STORE_NOT_CONNECTED'],
    ['that there is not', 'lines', 'MILL_TOPOLOGY_UNKNOWN_STORE'],
  ])('a processor that asks for a store %s', async (_, asked, code) => {
    const scenario = await begin('stores');
    const input = await scenario.topic('in');
    class Asks implements Processor<string, string> {
      constructor(private readonly store: string) {}
      init(context: ProcessorContext<never, never>): void {
        context.store(this.store);
      }
      process(): void {}
    }
    const builder = new StreamsBuilder();
    builder.addStateStore(rows);
    const stream = builder.stream(input, { keySerde: serdes.string, valueSerde: serdes.string });
    stream.process(() => new Asks('rows'), { stores: ['rows'] });
    stream.process(() => new Asks(asked));
    const app = scenario.app(builder.build());
    const failure = failureOf(app);
    await app.start().catch(() => undefined);
    expect(await failure).toMatchObject({ code, message: expect.stringContaining(asked) });
  });
});

describe('a record that can’t be decoded', () => {
  const input = [1, 2, null, 3].map((value, i) => ({
    key: `k${i}`,
    value: value === null ? 'no number' : number(value),
    timestamp: 1000 + i,
  }));
  const values = async (scenario: Scenario, topic: string, count: number): Promise<number[]> =>
    (await scenario.read(topic, count)).map(({ value }) => value!.readInt32BE(0));

  it('fail: MILL_DESERIALIZATION names topic, partition and offset; the good records before it are committed', async () => {
    const scenario = await begin('undecodable-fail');
    const [from, to] = [await scenario.topic('in'), await scenario.topic('out')];
    await scenario.write(from, input.slice(0, 2));
    const app = await scenario.running(passThrough(from, to));
    expect(await values(scenario, to, 2)).toEqual([1, 2]);
    const failure = failureOf(app);
    await scenario.write(from, input.slice(2));
    expect(await failure).toMatchObject({
      code: 'MILL_DESERIALIZATION',
      message: expect.stringContaining(`${from}-0 at offset 2`),
      details: expect.objectContaining({ topic: from, partition: 0, offset: 2 }),
    });
    await until('the app has stopped', () => app.state === 'error');
    expect(await values(scenario, to, 2)).toEqual([1, 2]);
  });

  it('fail, mended and started again: nothing before it is done twice, nothing after it is lost', async () => {
    const scenario = await begin('undecodable-mended');
    const [from, to] = [await scenario.topic('in'), await scenario.topic('out')];
    await scenario.write(from, input);
    const app = scenario.app(passThrough(from, to));
    const failure = failureOf(app);
    await app.start().catch(() => undefined);
    await failure;
    await until('the app has stopped', () => app.state === 'error');
    await scenario.running(passThrough(from, to), { deserializationHandler: 'continue' });
    expect(await values(scenario, to, 3)).toEqual([1, 2, 3]);
  });

  it('continue: it is left out, counted and logged', async () => {
    const scenario = await begin('undecodable-continue');
    const [from, to] = [await scenario.topic('in'), await scenario.topic('out')];
    await scenario.write(from, input);
    const app = await scenario.running(passThrough(from, to), { deserializationHandler: 'continue' });
    expect(await values(scenario, to, 3)).toEqual([1, 2, 3]);
    expect(app.metrics().tasks['0_0']?.deserializationErrors).toBe(1);
    expect(scenario.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringContaining(`${from}-0 at offset 2`) }),
    );
  });

  it('deadLetter: the original bytes and where it came from, once, although the epoch was lost and repeated', async () => {
    const scenario = await begin('undecodable-dead-letter');
    const [from, to, dead] = [await scenario.topic('in'), await scenario.topic('out'), await scenario.topic('dead')];
    await scenario.write(from, input);
    let failures = 0;
    const builder = new StreamsBuilder();
    builder
      .stream(from, { keySerde: serdes.string, valueSerde: serdes.int32 })
      .peek((value) => {
        if (value === 3 && failures++ === 0) throw new Error('the record behind it fails the first time');
      })
      .to(to);
    const app = scenario.app(builder.build(), { deserializationHandler: 'deadLetter', deadLetterTopic: dead });
    app.setUncaughtErrorHandler(() => 'replaceThread');
    await app.start();
    expect(await values(scenario, to, 3)).toEqual([1, 2, 3]);
    const letters = await scenario.read(dead, 1);
    expect(failures).toBe(2);
    expect(letters).toHaveLength(1);
    expect(letters[0]).toMatchObject({ key: 'k2', timestamp: 1002 });
    expect(text(letters[0]!.value)).toBe('no number');
    expect(Object.fromEntries(letters[0]!.headers)).toMatchObject({
      '__streams.errors.topic': from,
      '__streams.errors.partition': '0',
      '__streams.errors.offset': '2',
      '__streams.errors.message': expect.stringMatching(/.+/),
    });
  });
});

describe('a user function that fails', () => {
  const topology = (from: string, to: string): Topology => {
    const builder = new StreamsBuilder();
    builder
      .stream(from, { keySerde: serdes.string, valueSerde: serdes.string })
      .mapValues((value) => {
        if (value === 'bad') throw new Error('can’t do this one');
        return value;
      })
      .to(to, { valueSerde: serdes.string });
    return builder.build();
  };
  const input = ['good', 'bad', 'better'].map((value) => ({ key: 'k', value }));

  it('fail: MILL_PROCESSING with the cause and the place', async () => {
    const scenario = await begin('processing-fail');
    const [from, to] = [await scenario.topic('in'), await scenario.topic('out')];
    const app = await scenario.running(topology(from, to));
    const failure = failureOf(app);
    await scenario.write(from, input);
    expect(await failure).toMatchObject({
      code: 'MILL_PROCESSING',
      message: expect.stringContaining(`${from}-0 at offset 1`),
      cause: expect.objectContaining({ message: 'can’t do this one' }),
    });
  });

  it('continue and deadLetter: the others go on', async () => {
    const scenario = await begin('processing-dead-letter');
    const [from, to, dead] = [await scenario.topic('in'), await scenario.topic('out'), await scenario.topic('dead')];
    await scenario.write(from, input);
    await scenario.running(topology(from, to), { processingHandler: 'deadLetter', deadLetterTopic: dead });
    expect((await scenario.read(to, 2)).map(({ value }) => text(value))).toEqual(['good', 'better']);
    expect((await scenario.read(dead, 1)).map(({ value }) => text(value))).toEqual(['bad']);
  });
});

describe('records the rules drop', () => {
  it('a null key before an aggregate: dropped, counted, logged once', async () => {
    const scenario = await begin('null-key');
    const [from, to] = [await scenario.topic('in'), await scenario.topic('out')];
    const builder = new StreamsBuilder();
    builder
      .stream(from, { keySerde: serdes.string, valueSerde: serdes.string })
      .groupByKey()
      .count({ emit: 'onUpdate' })
      .toStream()
      .to(to, { valueSerde: serdes.json<number>() });
    await scenario.write(from, [{ value: 'x' }, { key: 'a', value: 'x' }, { value: 'x' }, { key: 'a', value: 'x' }]);
    const app = await scenario.running(builder.build());
    expect((await scenario.read(to, 2)).map(({ key, value }) => `${key} ${text(value)}`)).toEqual(['a 1', 'a 2']);
    expect(app.metrics().tasks['0_0']?.dropped).toEqual({ 'null-key': 2 });
    expect(app.metrics().droppedRecords).toBe(2);
    expect(scenario.logged.filter(({ message }) => message.includes('null-key'))).toHaveLength(1);
  });
});

describe('an output record larger than its topic takes', () => {
  const topology = (from: string, to: string): Topology => {
    const builder = new StreamsBuilder();
    builder.stream(from, { keySerde: serdes.string, valueSerde: serdes.string }).to(to);
    return builder.build();
  };
  const input = ['small', 'x'.repeat(5000), 'small again'].map((value) => ({ key: 'k', value }));

  it('fail: MILL_PRODUCTION, because of MILL_RECORD_TOO_LARGE', async () => {
    const scenario = await begin('large-fail');
    const [from, to] = [await scenario.topic('in'), await scenario.topic('out', 1, { 'max.message.bytes': '2000' })];
    const app = await scenario.running(topology(from, to));
    const failure = failureOf(app);
    await scenario.write(from, input);
    const error = await failure;
    expect(error).toMatchObject({ code: 'MILL_PRODUCTION', message: expect.stringContaining(to) });
    expect(error.cause).toMatchObject({ code: 'MILL_RECORD_TOO_LARGE' });
  });

  it.each(['continue', 'deadLetter'] as const)('%s: the others go on, in order', async (productionHandler) => {
    const scenario = await begin(`large-${productionHandler.toLowerCase()}`);
    const [from, to, dead] = [
      await scenario.topic('in'),
      await scenario.topic('out', 1, { 'max.message.bytes': '2000' }),
      await scenario.topic('dead'),
    ];
    await scenario.write(from, input);
    const app = await scenario.running(topology(from, to), { productionHandler, deadLetterTopic: dead });
    expect((await scenario.read(to, 2)).map(({ value }) => text(value))).toEqual(['small', 'small again']);
    expect(app.metrics().tasks['0_0']?.productionErrors).toBe(1);
    if (productionHandler === 'deadLetter') expect((await scenario.read(dead, 1)).map(({ value }) => value!.length)).toEqual([5000]);
  });

  it('many that fit one by one: batches are split below the limit, in order', async () => {
    const scenario = await begin('large-many');
    const [from, to] = [await scenario.topic('in'), await scenario.topic('out', 1, { 'max.message.bytes': '2000' })];
    // Each record fits alone; the batches must be split below the topic's limit.
    const records = Array.from({ length: 200 }, (_, i) => ({ key: 'k', value: `${i}`.padEnd(700, '.') }));
    await scenario.write(from, records);
    await scenario.running(topology(from, to));
    expect((await scenario.read(to, 200)).map(({ value }) => Number(text(value)!.split('.')[0]))).toEqual(records.map((_, i) => i));
  });
});
