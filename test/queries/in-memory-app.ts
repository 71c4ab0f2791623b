import type { InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import type { OwnDirectory } from '../../src/stores/state-directory.js';

/** An instance's folder: identity alone, since the stores are in memory. */
export class MemoryDisk implements OwnDirectory {
  private readonly members = new Map<string, string>();

  constructor(readonly processId: string) {}

  memberId(thread: string): string | null {
    return this.members.get(thread) ?? null;
  }

  async rememberMember(thread: string, memberId: string | null): Promise<void> {
    if (memberId !== null) this.members.set(thread, memberId);
  }

  taskDirectory(taskId: string): string {
    return `/nowhere/${taskId}`;
  }

  async tasks(): Promise<string[]> {
    return [];
  }

  async offsetSum(): Promise<number | null> {
    return null;
  }

  async rememberOffsetSum(): Promise<void> {
    // Nothing outlives the process.
  }

  async removeStale(): Promise<string[]> {
    return [];
  }

  async removeAll(): Promise<string[]> {
    return [];
  }

  async release(): Promise<void> {
    // Nothing is locked.
  }
}

/** Key, value, timestamp. Returns the offset of the last record. */
export async function produce(
  kafka: InMemoryKafka,
  topic: string,
  partition: number,
  records: readonly (readonly [string, string, number])[],
): Promise<number> {
  kafka.produce(
    topic,
    records.map(([key, value, timestamp]) => ({ key, value, timestamp, partition })),
  );
  return Math.max(...kafka.records(topic).flatMap((record) => (record.partition === partition ? [record.offset] : [])));
}

/** Waits for a condition, at most 8 s. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 8000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the condition did not come true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
