import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StreamsApp } from '../../src/app/streams-app.js';
import type { StreamsConfig } from '../../src/app/config.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { Topology } from '../../src/topology/nodes.js';
import { InMemoryDirectory } from '../../src/testing/in-memory-kafka/in-memory-directory.js';
import { MemoryApps, until } from './harness/memory-app.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const partitions = 4;
const keys = Array.from({ length: 40 }, (_, key) => `k${key}`);

let apps: MemoryApps;
beforeEach(() => {
  apps = new MemoryApps();
  for (const topic of ['orders', 'counts', 'returns', 'returned']) apps.kafka.createTopic(topic, partitions);
});
afterEach(() => apps.end());

function counts(builder: StreamsBuilder, input: string, store: string, output?: string) {
  const stream = builder.stream(input, text);
  const counted = stream.groupByKey().count({ materialized: { storeName: store } });
  if (output !== undefined) counted.toStream().mapValues(String).to(output, text);
  return stream;
}

const releases = {
  old: (builder: StreamsBuilder): void => {
    counts(builder, 'orders', 'by-order', 'counts');
  },
  /** Another part in front: what the old release calls 0_p is 1_p here. */
  renumbered: (builder: StreamsBuilder): void => {
    counts(builder, 'returns', 'by-return', 'returned');
    counts(builder, 'orders', 'by-order', 'counts');
  },
  anotherStore: (builder: StreamsBuilder): void => {
    counts(builder, 'orders', 'by-order', 'counts')
      .groupByKey()
      .count({ materialized: { storeName: 'again' } });
  },
  storeAndPart: (builder: StreamsBuilder): void => {
    releases.anotherStore(builder);
    counts(builder, 'returns', 'by-return', 'returned');
  },
  /** The same results by way of a repartition topic. */
  byWay: (builder: StreamsBuilder): void => {
    builder
      .stream('orders', text)
      .repartition({ name: 'way', ...text })
      .groupByKey()
      .count({ materialized: { storeName: 'by-order' } })
      .toStream()
      .mapValues(String)
      .to('counts', text);
  },
  /** One part where the old release has nothing of the kind: both topics in one store. */
  merged: (builder: StreamsBuilder): void => {
    builder
      .stream('orders', text)
      .merge(builder.stream('returns', text))
      .groupByKey()
      .count({ materialized: { storeName: 'by-order' } })
      .toStream()
      .mapValues(String)
      .to('counts', text);
  },
  /** The store keeps what the old release can't read. */
  otherKind: (builder: StreamsBuilder): void => {
    builder.table('orders', { ...text, materialized: { storeName: 'by-order', historyRetention: 60_000 } });
  },
} as const;

function topologyOf(name: keyof typeof releases): Topology {
  const builder = new StreamsBuilder();
  releases[name](builder);
  return builder.build();
}

const memory: Partial<StreamsConfig> = { storeEngine: 'memory', emit: 'onUpdate' };
const start = (name: keyof typeof releases, config: Partial<StreamsConfig> = {}): Promise<StreamsApp> =>
  apps.running(topologyOf(name), { ...memory, ...config });
const owned = (app: StreamsApp): readonly string[] => app.metrics().group!.ownedTasks;

let rounds = 0;
/** One record for each key, all through the change. */
function feed(topic = 'orders'): void {
  rounds++;
  for (const key of keys) apps.kafka.produce(topic, [{ key, value: 'x' }]);
}
beforeEach(() => {
  rounds = 0;
});

/** Each key was counted 1, 2, …, n: nothing lost, nothing twice. */
async function untilCounted(topic: string, times: number): Promise<void> {
  await until(`${topic} has everything`, () => apps.kafka.records(topic).length >= times * keys.length);
  const seen = new Map<string, string[]>();
  for (const { key, value } of apps.kafka.records(topic)) {
    const name = Buffer.from(key!).toString();
    seen.set(name, [...(seen.get(name) ?? []), Buffer.from(value!).toString()]);
  }
  const expected = Array.from({ length: times }, (_, at) => String(at + 1));
  expect([...seen.keys()].sort()).toEqual([...keys].sort());
  for (const key of keys) expect([key, seen.get(key)]).toEqual([key, expected]);
}

async function untilSettled(all: readonly StreamsApp[], tasks: number): Promise<void> {
  await until('the group has settled', () => {
    const everything = all.flatMap((app) => owned(app)).length;
    return everything === tasks && all.every((app) => app.state === 'running' && app.metrics().group!.stable);
  });
}

describe('a rolling upgrade', () => {
  it.each([
    ['renumbered', 'old'],
    ['anotherStore', 'old'],
    ['merged', 'old'],
  ] as const)(
    'to a release that is %s, and back, loses and doubles nothing',
    async (next, before) => {
      let running = [await start(before), await start(before)];
      for (const release of [next, before]) {
        for (let index = 0; index < 2; index++) {
          feed();
          const [oldest, ...others] = running;
          await oldest!.close();
          feed();
          running = [...others, await start(release)];
          feed();
          await until('all that was sent is counted', () => apps.kafka.records('counts').length === rounds * keys.length);
        }
      }
      await untilCounted('counts', rounds);
      expect(running.map(({ state }) => state)).toEqual(['running', 'running']);
    },
    30_000,
  );

  it('begins what is added with the first instance that has it', async () => {
    const old = await start('old');
    const added = await start('renumbered');
    await untilSettled([old, added], 2 * partitions);
    expect(owned(old).every((task) => task.startsWith('0_'))).toBe(true);
    expect(owned(added).filter((task) => task.startsWith('0_'))).toHaveLength(partitions);
    for (const key of keys) apps.kafka.produce('returns', [{ key, value: 'x' }]);
    feed();
    await untilCounted('returned', 1);
    await untilCounted('counts', 1);
  });

  it('goes on with the state on disk, whatever number its sub-topology has', async () => {
    const config: Partial<StreamsConfig> = { storeEngine: 'leveldb', emit: 'onUpdate', stateDir: await apps.folder() };
    const old = await apps.running(topologyOf('old'), config);
    feed();
    await untilCounted('counts', 1);
    await old.close();
    const next = apps.app(topologyOf('renumbered'), config);
    const restored: string[] = [];
    next.setRestoreListener({ onEnd: ({ store, whole }) => restored.push(`${store} ${whole ? 'whole' : 'by its tail'}`) });
    await next.start();
    feed();
    await untilCounted('counts', 2);
    expect([...new Set(restored)].filter((text) => text.startsWith('by-order'))).toEqual(['by-order by its tail']);
  });

  it('refuses an instance whose release can’t share the group, with what differs; the others go on', async () => {
    const old = await start('old');
    feed();
    const joining = apps.app(topologyOf('otherKind'), memory);
    await expect(joining.start()).rejects.toMatchObject({
      code: 'MILL_TOPOLOGY_MISMATCH',
      message: expect.stringContaining('store by-order is of kind timestampedKeyValue'),
    });
    feed();
    await untilCounted('counts', 2);
    expect(old.state).toBe('running');
    expect(old.metrics().epochs?.failedEpochs).toBe(0);
  });

  it('refuses a third topology while it is under way; then the store of the second goes on in the third', async () => {
    const old = await start('old');
    const next = await start('anotherStore');
    await untilSettled([old, next], partitions);
    const third = apps.app(topologyOf('storeAndPart'), memory);
    await expect(third.start()).rejects.toMatchObject({
      code: 'MILL_TOPOLOGY_MISMATCH',
      message: expect.stringContaining('An upgrade is under way'),
    });
    feed();
    await untilCounted('counts', 1);
    expect([old.state, next.state]).toEqual(['running', 'running']);
    await old.close();
    const last = await start('storeAndPart');
    await untilSettled([next, last], 2 * partitions);
    feed();
    await untilCounted('counts', 2);
  });

  it('goes on halfway when an instance of the old release is started again, though there is no way back from the new one', async () => {
    const [first, second] = [await start('old'), await start('old')];
    const next = await start('byWay');
    await second.close();
    const again = await start('old');
    await until('it has its share', () => owned(again).length > 0);
    expect([first.state, next.state]).toEqual(['running', 'running']);
    feed();
    await untilCounted('counts', 1);
  });

  it('refuses a static member that comes back with such a release, and gives its tasks to the others', async () => {
    const seats = [new InMemoryDirectory('a'), new InMemoryDirectory('b')] as const;
    const config = (groupInstanceId: string): Partial<StreamsConfig> => ({ ...memory, groupInstanceId, sessionTimeout: 6000 });
    const a = await apps.running(topologyOf('old'), config('a'), seats[0]);
    const b = await apps.running(topologyOf('old'), config('b'), seats[1]);
    await untilSettled([a, b], partitions);
    await b.close();
    const joining = apps.app(topologyOf('otherKind'), config('b'), {}, seats[1]);
    const refused: string[] = [];
    joining.on('error', (error) => refused.push((error as { code?: string }).code ?? ''));
    await joining.start().catch(() => undefined);
    await until('it is refused', () => refused.includes('MILL_TOPOLOGY_MISMATCH'));
    await untilSettled([a], partitions);
    feed();
    await untilCounted('counts', 1);
  });

  it('gives a static member that comes back with other numbers an assignment of its own', async () => {
    const seats = new Map(['a', 'b'].map((name) => [name, new InMemoryDirectory(name)]));
    const onSeat = (name: keyof typeof releases, seat: string): Promise<StreamsApp> =>
      apps.running(topologyOf(name), { ...memory, groupInstanceId: seat }, seats.get(seat));
    const a = await onSeat('old', 'a');
    const b = await onSeat('old', 'b');
    await untilSettled([a, b], partitions);
    feed();
    await untilCounted('counts', 1);
    await b.close();
    const back = await onSeat('renumbered', 'b');
    await untilSettled([a, back], 2 * partitions);
    expect(owned(back).filter((task) => task.startsWith('0_'))).toHaveLength(partitions);
    feed();
    await untilCounted('counts', 2);
  });
});
