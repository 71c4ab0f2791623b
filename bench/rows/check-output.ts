import { readTopic } from '../clients/read-topic.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import type { Workload } from './workload.js';

/** A measured run counts only when its committed output is right: one record for each input record, or counts that add up to them. */
export async function checkOutput(port: KafkaPort, kind: Workload['output'], output: string, inputRecords: number): Promise<void> {
  const found = kind === 'recordEach' ? await countRecords(port, output) : await sumOfCounts(port, output);
  if (found !== inputRecords) throw new Error(`${output} should stand for ${inputRecords} input records but stands for ${found}`);
}

async function countRecords(port: KafkaPort, topic: string): Promise<number> {
  let records = 0;
  await readTopic(port, topic, () => {
    records++;
  });
  return records;
}

/** Of the last count of each key; a count that was withdrawn (null) counts for nothing. */
async function sumOfCounts(port: KafkaPort, topic: string): Promise<number> {
  const counts = new Map<string, number>();
  await readTopic(port, topic, ({ buffer, keyStart, keyEnd, valueStart, valueEnd }) => {
    const key = buffer.toString('latin1', keyStart, keyEnd);
    if (valueEnd - valueStart === 8) counts.set(key, Number(buffer.readBigInt64BE(valueStart)));
    else counts.delete(key);
  });
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
