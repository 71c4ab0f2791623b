/** What `build({ optimizations })` leaves out, and that results stay the same. Names are held to Kafka Streams by the conformance rows. */
import { describe, expect, it } from '@jest/globals';
import type { StreamsConfig } from '../../src/app/config.js';
import { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KStream } from '../../src/dsl/kstream.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { Topology } from '../../src/topology/nodes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { strings } from './run-topology.js';

const rekeyed = { keySerde: serdes.string };
const printed = { ...strings, valueSerde: serdes.string };

type Declare = (builder: StreamsBuilder) => void;

async function run(declare: Declare, merged: boolean): Promise<{ readonly topics: readonly string[]; readonly out: readonly string[] }> {
  const builder = new StreamsBuilder();
  declare(builder);
  const topology = builder.build({ optimizations: merged ? ['mergeRepartitions'] : [] });
  await using driver = new TopologyTestDriver(topology, {
    emit: 'onUpdate',
    defaultKeySerde: serdes.string,
    defaultValueSerde: serdes.string,
  });
  for (const [key, value] of [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'a'],
  ] as const) {
    await driver.inputTopic('in', strings).pipe(key, value);
  }
  const records = driver.outputTopic('out', strings).readAll();
  return { topics: [...topology.repartitionTopics.keys()], out: records.map(({ key, value }) => `${String(key)}=${value}`).sort() };
}

function twice(stream: KStream<string, string>): void {
  stream.groupByKey().count().toStream().mapValues(String, { valueSerde: serdes.string }).to('out', printed);
  stream
    .filter((value) => value !== 'none')
    .groupByKey()
    .reduce((all, value) => all + value)
    .toStream()
    .to('out', printed);
}

describe('mergeRepartitions', () => {
  const selected = (builder: StreamsBuilder): KStream<string, string> => builder.stream('in', strings).selectKey((value) => value, rekeyed);

  it('makes one topic of all repartitions of a stream whose keys have changed', async () => {
    const declare: Declare = (builder) => twice(selected(builder));
    const [apart, merged] = [await run(declare, false), await run(declare, true)];
    expect(apart.topics).toHaveLength(2);
    expect(merged.topics).toEqual(apart.topics.slice(0, 1));
    expect(merged.out).toEqual(apart.out);
    expect(merged.out).toEqual(['a=1', 'a=2', 'a=a', 'a=aa', 'b=1', 'b=b']);
  });

  it('leaves a repartition where it is when values change before it, or when it was asked for', async () => {
    const declare: Declare = (builder) => {
      const stream = selected(builder);
      twice(stream.mapValues((value) => value.toUpperCase(), { valueSerde: serdes.string }));
      stream.repartition({ name: 'wanted' }).to('out', printed);
    };
    const [apart, merged] = [await run(declare, false), await run(declare, true)];
    expect(merged.topics).toEqual(apart.topics);
    expect(merged.out).toEqual(apart.out);
  });

  it('repartitions all that a merge brings together', async () => {
    const declare: Declare = (builder) => {
      const source = builder.stream('in', strings);
      twice(selected(builder).merge(source));
    };
    const [apart, merged] = [await run(declare, false), await run(declare, true)];
    expect(merged.topics).toHaveLength(1);
    expect(merged.out).toEqual(apart.out);
  });
});

describe('reuseSourceTopics', () => {
  const build = (options: Parameters<StreamsBuilder['table']>[1]): Topology => {
    const builder = new StreamsBuilder();
    builder.table('in', options as typeof strings);
    return builder.build({ optimizations: ['reuseSourceTopics'] });
  };
  const app = (topology: Topology, config: Partial<StreamsConfig> = {}): StreamsApp =>
    new StreamsApp(topology, { applicationId: 'app', bootstrapServers: 'localhost:1', ...config });
  const materialized = { storeName: 'rows' };

  it('has no changelog for a source table', () => {
    const topology = build({ ...strings, materialized });
    expect(topology.stores.get('rows')?.sourceTopic).toBe('in');
    expect(() => app(topology)).not.toThrow();
  });

  it('leaves versioned tables their changelog: a compacted topic forgets versions', () => {
    expect(build({ ...strings, materialized: { ...materialized, historyRetention: 1000 } }).stores.get('rows')?.sourceTopic).toBeNull();
  });

  it('is refused where the topic’s records are not the rows', () => {
    const plain = { ...strings, materialized };
    const refused = (topology: Topology, config?: Partial<StreamsConfig>) => expect(() => app(topology, config));
    refused(build(plain), { deserializationHandler: 'continue' }).toThrow(/deserializationHandler.*MILL_CONFIG_INVALID/s);
    refused(build({ ...plain, timestampExtractor: { name: 'five', extract: () => 5 } })).toThrow(
      /timestampExtractor.*MILL_CONFIG_INVALID/s,
    );
    const otherSerde = { ...materialized, valueSerde: serdes.json<string>() };
    refused(build({ ...strings, materialized: otherSerde })).toThrow(/other serdes.*MILL_CONFIG_INVALID/s);
  });
});
