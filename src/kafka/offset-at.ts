import { ErrorCodes } from './error-codes.js';
import type { IsolationLevel, KafkaPort, OffsetAnswer, TopicPartition } from './port.js';

/**
 * The offset to begin at. A timestamp stands for the first record that is no older, and for the end of the partition when there is none: the end is read before, so that
 * a record that arrives meanwhile is not skipped.
 *
 * @returns what the broker answers; `undefined` when it leaves the partition out
 */
export async function offsetAt(
  port: Pick<KafkaPort, 'listOffsets'>,
  { topic, partition }: TopicPartition,
  at: 'earliest' | 'latest' | number,
  isolation: IsolationLevel,
): Promise<OffsetAnswer | undefined> {
  const ask = async (point: typeof at): Promise<OffsetAnswer | undefined> =>
    (await port.listOffsets([{ topic, partition, at: point, isolation }]))[0];
  if (typeof at === 'string') return ask(at);
  const end = await ask('latest');
  if (end?.errorCode !== ErrorCodes.NONE) return end;
  const found = await ask(at);
  return found?.errorCode === ErrorCodes.NONE && found.offset < 0 ? end : found;
}

/** Whether the leader's log has the offset, or ends there; null: it does not tell now. */
export async function isInRange(port: Pick<KafkaPort, 'listOffsets'>, tp: TopicPartition, offset: number): Promise<boolean | null> {
  try {
    const first = await offsetAt(port, tp, 'earliest', 'read_uncommitted');
    const end = await offsetAt(port, tp, 'latest', 'read_uncommitted');
    if (first?.errorCode !== ErrorCodes.NONE || end?.errorCode !== ErrorCodes.NONE) return null;
    return first.offset <= offset && offset <= end.offset;
  } catch {
    return null;
  }
}
