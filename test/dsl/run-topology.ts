/** Declares a topology of texts, feeds it, and gives what was written. */
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KTable } from '../../src/dsl/ktable.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';

export const strings = { keySerde: serdes.string, valueSerde: serdes.string };

export type Input = readonly [key: string | null, value: string | null, timestamp: number, topic?: string];

export interface Run {
  /** `key=value@timestamp`, in order. */
  readonly out: readonly string[];
  readonly dropped: Readonly<Record<string, number>>;
}

/** Inputs go to `in` unless they name a topic; results are those of `out`. Tables emit on update. */
export async function runTopology(
  declare: (builder: StreamsBuilder) => void,
  inputs: readonly Input[],
  config: TestDriverConfig = {},
): Promise<Run> {
  const builder = new StreamsBuilder();
  declare(builder);
  await using driver = new TopologyTestDriver(builder.build(), { emit: 'onUpdate', ...config });
  for (const [key, value, timestamp, topic = 'in'] of inputs) await driver.inputTopic(topic, strings).pipe(key, value, { timestamp });
  const records = driver.outputTopic('out', strings).readAll();
  return {
    out: records.map(({ key, value, timestamp }) => `${String(key)}=${String(value)}@${timestamp}`),
    dropped: Object.fromEntries(driver.droppedByReason),
  };
}

/** Writes a table to `out`, keys and values as texts. With `slowly`, whoever is downstream answers with promises. */
export function write<K, V>(table: KTable<K, V>, slowly = false): void {
  table
    .toStream()
    .map((value: V | null, key) => {
      const row = [String(key), value === null ? null : String(value)] as const;
      return slowly ? Promise.resolve(row) : row;
    }, strings)
    .to('out', strings);
}
