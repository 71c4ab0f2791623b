import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { KafkaPort } from '../../src/kafka/port.js';
import { silentLogger, type Logger } from '../../src/observability/logger.js';
import { choreIntervals, ThreadChores, type ThreadChoresOptions } from '../../src/runtime/thread-chores.js';
import type { StateDirectory } from '../../src/stores/state-directory.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const cleanup = 600_000;

function chores(
  options: Partial<Omit<ThreadChoresOptions, 'stateCleanupDelay'>> & {
    readonly stateCleanupDelay?: number;
    readonly removed?: readonly string[];
    readonly refuse?: boolean;
  } = {},
) {
  const told = {
    deleted: [] as unknown[],
    changed: 0,
    saved: 0,
    noted: 0,
    removed: [] as string[],
    warnings: [] as string[],
    stale: [] as unknown[],
  };
  const deleteRecords = async (before: readonly unknown[]): Promise<void> => {
    if (options.refuse === true) throw new Error('not now');
    told.deleted.push(...before);
  };
  const logger: Logger = { ...silentLogger, warn: (_fields, message) => told.warnings.push(message) };
  const made = new ThreadChores({
    port: { admin: { deleteRecords } } as unknown as KafkaPort,
    stateDirectory: {
      removeStale: async (isInUse: (taskId: string) => boolean, age: number) => {
        told.stale.push([['0_0', '0_7', '1_0'].filter(isInUse), age]);
        return options.removed ?? [];
      },
    } as unknown as StateDirectory,
    isRepartition: (topic) => topic.endsWith('-repartition'),
    committed: () => [],
    refreshOutput: async () => undefined,
    topicsChanged: async () => false,
    onTopicsChanged: () => told.changed++,
    ownedTasks: () => new Set(['0_0']),
    stateCleanupDelay: cleanup,
    standbys: {
      ids: ['0_7'],
      noteCurrent: () => {
        told.noted++;
      },
    },
    localState: {
      save: () => {
        told.saved++;
      },
      removed: (tasks) => {
        told.removed.push(...tasks);
      },
    },
    logger,
    ...options,
  });
  return { made, told };
}

describe('purging', () => {
  it('deletes what committed epochs have read of repartition topics, and nothing else, each offset once', async () => {
    let offset = 10;
    const { made, told } = chores({
      committed: () => [
        { topic: 'app-x-repartition', partition: 1, offset },
        { topic: 'orders', partition: 1, offset: 99 },
      ],
    });
    await made.purge();
    await made.purge();
    offset = 12;
    await made.purge();
    expect(told.deleted).toEqual([
      { topic: 'app-x-repartition', partition: 1, offset: 10 },
      { topic: 'app-x-repartition', partition: 1, offset: 12 },
    ]);
  });

  it('that fails is logged and tried again at the next round', async () => {
    const { made, told } = chores({ refuse: true, committed: () => [{ topic: 'a-repartition', partition: 0, offset: 1 }] });
    made.start();
    await jest.advanceTimersByTimeAsync(2 * choreIntervals.purge);
    made.stop();
    expect(told.warnings).toHaveLength(2);
  });
});

describe('topics', () => {
  it('that are written to are looked at as well, whatever becomes of those that are read', async () => {
    let looks = 0;
    const missing = async (): Promise<boolean> => {
      throw new Error('a topic is missing');
    };
    const { made } = chores({
      refreshOutput: async () => {
        looks++;
      },
      topicsChanged: missing,
    });
    made.start();
    await jest.advanceTimersByTimeAsync(2 * choreIntervals.metadata);
    made.stop();
    expect(looks).toBe(2);
  });

  it('are looked at now and then; a change asks for a rebalance', async () => {
    let changed = false;
    const { made, told } = chores({ topicsChanged: async () => changed });
    made.start();
    await jest.advanceTimersByTimeAsync(choreIntervals.metadata);
    expect(told.changed).toBe(0);
    changed = true;
    await jest.advanceTimersByTimeAsync(choreIntervals.metadata);
    made.stop();
    expect(told.changed).toBe(1);
  });
});

describe('old local state', () => {
  it('of tasks that run elsewhere is deleted, and no longer told to the group', async () => {
    const { made, told } = chores({ removed: ['1_0'] });
    made.start();
    await jest.advanceTimersByTimeAsync(cleanup);
    made.stop();
    expect(told.stale).toEqual([[['0_0', '0_7'], cleanup]]);
    expect(told.removed).toEqual(['1_0']);
  });

  it('is looked for once a second at most, however short the delay', async () => {
    const { made, told } = chores({ stateCleanupDelay: 0 });
    made.start();
    await jest.advanceTimersByTimeAsync(3000);
    made.stop();
    expect(told.stale).toEqual(Array.from({ length: 3 }, () => [['0_0', '0_7'], 0]));
  });
});

describe('stopping', () => {
  it('ends all chores', async () => {
    const { made, told } = chores();
    made.start();
    made.stop();
    await jest.advanceTimersByTimeAsync(cleanup);
    expect(told.stale).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
