import { callTimers } from '../../src/runtime/call-timers.js';
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { CommittedOffset, KafkaPort, OffsetQuery } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { ChangelogToRestore } from '../../src/runtime/changelog-bounds.js';
import { failAlways } from '../../src/runtime/error-policy.js';
import { SerdeDefaults } from '../../src/runtime/serde-defaults.js';
import { StateOpener } from '../../src/runtime/state-opener.js';
import type { StateRestorer } from '../../src/runtime/state-restorer.js';
import { TaskMetrics } from '../../src/runtime/task-metrics.js';
import { TaskOpener } from '../../src/runtime/task-opener.js';
import type { TaskPlan } from '../../src/runtime/task-plan.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TaskState } from '../../src/stores/task-state.js';
import type { OffsetReset } from '../../src/time/offset-reset.js';
import { AlignmentGroups } from '../../src/time/watermarks/alignment.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { encodeCommittedMetadata } from '../../src/transactions/committed-metadata.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const builder = new StreamsBuilder();
builder
  .stream('in', text)
  .groupByKey()
  .count({ materialized: { storeName: 'counts' } });
const topology = builder.build();

function planOf(offsetReset: TaskPlan['inputs'][number]['offsetReset'] = null): TaskPlan {
  const [subTopology] = topology.subTopologies;
  if (subTopology === undefined) throw new Error('no sub-topology');
  return {
    id: '0_3',
    partition: 3,
    topology,
    subTopology,
    inputs: [{ topic: 'in', partition: 3, sourceNode: 'KSTREAM-SOURCE-0000000000', offsetReset, senders: [] }],
    watermarkTargets: [],
    peers: 4,
    stores: [...topology.stores.values()].map(({ spec }) => ({ ...spec, engine: 'memory' as const })),
    changelogs: [{ store: 'counts', topic: 'app-counts-changelog', partition: 3, topicId: null }],
    topicOf: (name) => name,
  };
}

function opening(
  options: {
    readonly committed?: Partial<CommittedOffset>;
    /** Committed by somebody else while the stores are restored, one restore after the other. */
    readonly committedSince?: Partial<CommittedOffset>[];
    readonly exactlyOnce?: boolean;
    readonly autoOffsetReset?: OffsetReset;
    /** Offsets of records by their timestamps. */
    readonly timed?: readonly (readonly [timestamp: number, offset: number])[];
    readonly listError?: number;
    readonly restore?: (order: string[]) => Promise<void>;
    readonly changelogs?: (changelogs: readonly ChangelogToRestore[]) => void;
  } = {},
) {
  const order: string[] = [];
  let { committed } = options;
  const since = [...(options.committedSince ?? [])];
  const serdesOfAll = new SerdeDefaults(null, null);
  const opener = new TaskOpener({
    port: {
      findCoordinator: async () => 1,
      offsetFetch: async () => {
        order.push('offsets');
        return {
          errorCode: 0,
          offsets: [{ topic: 'in', partition: 3, offset: -1, leaderEpoch: -1, metadata: null, errorCode: 0, ...committed }],
        };
      },
      listOffsets: async ([query]: readonly OffsetQuery[]) => [
        {
          topic: 'in',
          partition: 3,
          errorCode: options.listError ?? 0,
          offset: offsetFor(query?.at ?? 'latest', options.timed ?? []),
        },
      ],
    } as unknown as KafkaPort,
    env: () => ({
      applicationId: 'app',
      output: {
        partitionCount: () => 1,
        builder: () => {
          throw new Error('nothing is written');
        },
      },
      errors: failAlways,
      logger: silentLogger,
      metrics: new TaskMetrics(),
      defaultEmit: 'onUpdate',
      maxTaskIdleMs: 0,
      isolation: 'read_committed',
      wallClock: () => 0,
      requestCommit: () => undefined,
      calls: callTimers(new TaskMetrics(), () => undefined),
      serde: (serde, node, part) => serdesOfAll.compiled(serde, node, part),
    }),
    groupId: 'app',
    endOf: () => undefined,
    inputEnded: () => undefined,
    exactlyOnce: options.exactlyOnce ?? true,
    autoOffsetReset: options.autoOffsetReset ?? 'earliest',
    now: () => 10_000,
    states: new StateOpener({
      open: (options, { cacheBytes }) => TaskState.open({ ...options, cacheBytes: cacheBytes() }),
      taskDirectory: () => '/nowhere',
      emitsOnCommit: true,
      defaultEngine: 'memory',
      storeSerdes: (spec) => serdesOfAll.ofStore(spec),
      shared: { cacheBytes: () => 0, wanted: () => [] },
      logger: silentLogger,
      metrics: () => new TaskMetrics(),
      onWritten: () => undefined,
    }),
    globalStore: () => undefined,
    restorer: {
      restore: async (_task: string, _state: TaskState, changelogs: readonly ChangelogToRestore[]) => {
        order.push('restore');
        options.changelogs?.(changelogs);
        committed = since.shift() ?? committed;
        await options.restore?.(order);
      },
    } as unknown as StateRestorer,
    lags: { lag: () => 0, isAtEnd: () => true },
    alignment: new AlignmentGroups(),
    released: () => undefined,
    fenceDeadOwners: async () => undefined,
    logger: silentLogger,
  });
  return { opener, order };
}

function offsetFor(at: OffsetQuery['at'], timed: readonly (readonly [number, number])[]): number {
  if (typeof at === 'string') return at === 'earliest' ? 11 : 99;
  return timed.find(([timestamp]) => timestamp >= at)?.[1] ?? -1;
}

const signal = new AbortController().signal;
const positionOf = async (options: Parameters<typeof opening>[0], plan = planOf()) =>
  (await opening(options).opener.open(plan, signal)).task.positions()[0];

describe('taking a task over', () => {
  it('goes on with what upstream tasks had told, which may be gone from the topic, and waits for those that had not', async () => {
    const other = new StreamsBuilder();
    const keyed = other
      .stream('readings', { ...text, watermarks: watermarks.monotonous() })
      .keyBy((value) => value, { name: 'by-value', ...text });
    keyed.process(() => ({ process: () => undefined }), { name: 'nothing' });
    const eventTime = other.build();
    const [, subTopology] = eventTime.subTopologies;
    if (subTopology === undefined) throw new Error('no second sub-topology');
    const topic = 'app-by-value-repartition';
    const metadata = encodeCommittedMetadata({ epoch: 1, transactionalId: null, partitionTime: 5, watermark: 40, marks: '0:1e:0,!2,5' });
    const taskAfter = async (senders: readonly string[]) => {
      const inputs = [{ topic, partition: 3, sourceNode: 'by-value-repartition-source', offsetReset: null, senders }];
      const stores = subTopology.stores.flatMap((name) => eventTime.stores.get(name)?.spec ?? []);
      const plan = {
        ...planOf(),
        topology: eventTime,
        subTopology,
        inputs,
        stores: stores.map((spec) => ({ ...spec, engine: 'memory' as const })),
        changelogs: [],
      };
      const { opener } = opening({ committed: { topic, offset: 42, metadata } });
      return (await opener.open(plan, signal)).task;
    };
    const task = await taskAfter(['0_0', '0_1', '0_2']);
    expect([task.inputWatermark, task.watermark()]).toEqual([50, 50]);
    expect(task.positions()[0]?.marks).toEqual(
      new Map([
        ['0_0', { watermark: 50, idle: false }],
        ['0_1', { watermark: 52, idle: true }],
        ['0_2', { watermark: 55, idle: false }],
      ]),
    );
    expect((await taskAfter(['0_0', '0_1', '0_2', '0_3'])).inputWatermark).toBe(40);
    expect((await taskAfter(['0_1', '0_2'])).inputWatermark).toBe(55);
  });

  it('reads the stable offsets first and restores the stores after: so the changelog ends with the epoch of those offsets', async () => {
    const { opener, order } = opening();
    await opener.open(planOf(), signal);
    expect(order).toEqual(['offsets', 'restore', 'offsets']);
  });

  it('restores again what another owner has committed meanwhile: no record is met that the state has seen already', async () => {
    const { opener, order } = opening({ committed: { offset: 42 }, committedSince: [{ offset: 50 }, { offset: 50, metadata: 'x' }] });
    const { task } = await opener.open(planOf(), signal);
    expect(order).toEqual(['offsets', 'restore', 'offsets', 'restore', 'offsets', 'restore', 'offsets']);
    expect(task.positions()[0]?.offset).toBe(50);
  });

  it('asks once where nothing is restored, and where nothing is committed at once with the state', async () => {
    const stateless = opening();
    await stateless.opener.open({ ...planOf(), changelogs: [] }, signal);
    const atLeastOnce = opening({ exactlyOnce: false });
    await atLeastOnce.opener.open(planOf(), signal);
    expect([stateless.order, atLeastOnce.order]).toEqual([
      ['offsets', 'restore'],
      ['offsets', 'restore'],
    ]);
  });

  it('goes on at the committed offset, with the time committed beside it', async () => {
    const metadata = encodeCommittedMetadata({ epoch: 4, transactionalId: 'app-1-0', partitionTime: 777 });
    expect(await positionOf({ committed: { offset: 42, metadata } })).toMatchObject({ offset: 42, partitionTime: 777 });
    expect(await positionOf({ committed: { offset: 42, metadata: 'of another tool' } })).toMatchObject({ offset: 42, partitionTime: -1 });
  });

  it('knows which topic that offset was committed for, in case the name has gone to another one', async () => {
    const metadata = encodeCommittedMetadata({ epoch: 4, transactionalId: null, partitionTime: 1, topicId: 'id-of-in' });
    expect(await positionOf({ committed: { offset: 42, metadata } })).toMatchObject({ offset: 42, topicId: 'id-of-in' });
    expect(await positionOf({})).toMatchObject({ topicId: null });
  });

  it('without one begins where the source says, else where the app does', async () => {
    expect(await positionOf({})).toMatchObject({ offset: 11 });
    expect(await positionOf({ autoOffsetReset: 'latest' })).toMatchObject({ offset: 99 });
    expect(await positionOf({ autoOffsetReset: 'latest' }, planOf('earliest'))).toMatchObject({ offset: 11 });
    await expect(positionOf({ autoOffsetReset: 'none' })).rejects.toMatchObject({ code: 'MILL_OFFSET_OUT_OF_RANGE' });
    await expect(positionOf({}, planOf('none'))).rejects.toMatchObject({
      code: 'MILL_OFFSET_OUT_OF_RANGE',
      details: { topic: 'in', partition: 3 },
    });
  });

  it('without one begins so long before now, and at the end when nothing is as new', async () => {
    const timed = [
      [3000, 20],
      [7000, 30],
    ] as const;
    expect(await positionOf({ timed, autoOffsetReset: { duration: 5000 } })).toMatchObject({ offset: 30 });
    expect(await positionOf({ timed, autoOffsetReset: { duration: 3000 } })).toMatchObject({ offset: 30 });
    expect(await positionOf({ timed, autoOffsetReset: { duration: 2999 } })).toMatchObject({ offset: 99 });
    expect(await positionOf({ timed }, planOf({ duration: 1e12 }))).toMatchObject({ offset: 20 });
  });

  it('names the partition whose offset can’t be read by time, and does not begin elsewhere', async () => {
    await expect(positionOf({ listError: 6, autoOffsetReset: { duration: 1 } })).rejects.toMatchObject({
      code: 'MILL_BROKER_ERROR',
      message: expect.stringContaining('the first offset since 9999 of in-3'),
    });
  });

  it('names the partition whose offset can’t be read', async () => {
    await expect(positionOf({ listError: 6 })).rejects.toMatchObject({ code: 'MILL_BROKER_ERROR', details: { brokerErrorCode: 6 } });
  });

  it.each([
    [42, 42],
    [-1, 0],
  ])('whose source topic is a changelog, committed at %d, restores it up to %d', async (offset, upTo) => {
    const seen: (number | undefined)[] = [];
    const plan = planOf();
    const source = { store: 'counts', topic: 'in', partition: 3, topicId: null, isSourceTopic: true };
    const { opener } = opening({ committed: { offset }, changelogs: (changelogs) => seen.push(...changelogs.map((one) => one.upTo)) });
    await opener.open({ ...plan, changelogs: [...plan.changelogs, source] }, signal);
    expect(seen).toEqual([undefined, upTo]);
  });

  it('that is given up while its stores are restored opens nothing', async () => {
    const stop = new AbortController();
    const { opener } = opening({
      restore: async () => {
        stop.abort(new Error('given up'));
      },
    });
    await expect(opener.open(planOf(), stop.signal)).rejects.toThrow('given up');
  });
});
