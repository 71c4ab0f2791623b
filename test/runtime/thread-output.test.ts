import { describe, expect, it } from '@jest/globals';
import type { KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { ThreadOutput } from '../../src/runtime/thread-output.js';
import type { EpochProducer } from '../../src/transactions/producer/epoch-producer.js';

function outputTo(counts: Map<string, number>) {
  const told = { questions: 0, prepared: [] as string[], warnings: [] as string[] };
  const port = {
    metadata: async (names: readonly string[]) => {
      told.questions++;
      return { topics: new Map(names.map((name) => [name, { partitions: Array.from({ length: counts.get(name) ?? 0 }) }])) };
    },
  } as unknown as KafkaPort;
  const producer = { prepareTopics: async (topics: readonly string[]) => void told.prepared.push(...topics) } as unknown as EpochProducer;
  const logger = { ...silentLogger, warn: (_: object, message: string) => told.warnings.push(message) };
  return { output: new ThreadOutput(port, producer, logger), told };
}

describe('the partition count of an output topic', () => {
  it('is looked up once', async () => {
    const { output, told } = outputTo(new Map([['out', 3]]));
    expect(await output.partitionCount('out')).toBe(3);
    expect(output.partitionCount('out')).toBe(3);
    expect([told.questions, told.prepared]).toEqual([1, ['out']]);
  });

  it('of a topic that is not there is an error', async () => {
    await expect(outputTo(new Map()).output.partitionCount('out')).rejects.toMatchObject({ code: 'MILL_TOPIC_MISSING' });
  });

  it('is read again by a refresh, which says what has changed; a topic that is not there then stays as it was', async () => {
    const counts = new Map([
      ['out', 3],
      ['gone', 2],
    ]);
    const { output, told } = outputTo(counts);
    await output.refresh();
    expect(told.questions).toBe(0);
    for (const topic of counts.keys()) await output.partitionCount(topic);
    counts.set('out', 6);
    counts.delete('gone');
    await output.refresh();
    expect([output.partitionCount('out'), output.partitionCount('gone')]).toEqual([6, 2]);
    expect(told.warnings).toEqual([expect.stringContaining('output topic out has 6 partitions now')]);
  });
});
