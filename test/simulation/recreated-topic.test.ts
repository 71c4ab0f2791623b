import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka, type InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import { SimulatedApp } from './simulated-app.js';
import { VirtualWorld } from './virtual-world.js';

let world: VirtualWorld;
let kafka: InMemoryKafka;
const log: string[] = [];
beforeEach(() => {
  world = new VirtualWorld(new Random(1));
  kafka = inMemoryKafka({ clock: world.clockOf(world.outside) });
  for (const topic of ['in', 'out']) kafka.createTopic(topic);
  log.length = 0;
  world.install();
});
afterEach(() => world.uninstall());

function copying(autoOffsetReset: 'earliest' | 'latest' | 'none'): SimulatedApp {
  const text = { keySerde: serdes.string, valueSerde: serdes.string };
  const ids = new Random(2);
  return new SimulatedApp('app', {
    world,
    kafka,
    topology: () => {
      const builder = new StreamsBuilder();
      builder.stream('in', text).to('out', text);
      return builder.build();
    },
    config: { applicationId: 'copy', autoOffsetReset },
    faults: () => ({ delayMs: [0.2, 2] }),
    newId: () => ids.uuid(),
    log: (_, level, message) => void log.push(`${level} ${message}`),
  });
}

const write = (...values: readonly string[]): void =>
  kafka.produce(
    'in',
    values.map((value) => ({ key: 'k', value })),
  );
const written = (): string[] => kafka.records('out').map(({ value }) => String(value));

async function deleteAndCreate(): Promise<void> {
  const { admin } = kafka.port();
  let done = false;
  void admin.deleteTopics(['in']).then(() => (done = true));
  await world.run(1000, () => done);
  kafka.createTopic('in');
}

/** A broker drops the offsets of a topic that is deleted; a tool that put them back, or a commit that came late, leaves them as they were. */
async function deleteAndCreateUnderItsOffsets(): Promise<void> {
  const offsets = kafka.committedOffsets('copy');
  const sessionsEnd = 30_000;
  await world.run(sessionsEnd);
  await deleteAndCreate();
  expect(kafka.committedOffsets('copy')).toEqual([]);
  const port = kafka.port();
  void port
    .findCoordinator('group', 'copy')
    .then((broker) => port.offsetCommit(broker, { groupId: 'copy', memberId: '', generation: -1, groupInstanceId: null, offsets }));
  expect(await world.run(1000, () => kafka.committedOffsets('copy').length === 1)).toBe(true);
}

describe('an input topic that is deleted and created again, with more records than the old position', () => {
  it('under a running app is read from its beginning', async () => {
    const app = copying('earliest');
    app.start();
    write('a', 'b');
    expect(await world.run(60_000, () => written().length === 2)).toBe(true);
    await deleteAndCreate();
    write('c', 'd', 'e', 'f');
    expect(await world.run(60_000, () => written().length === 6)).toBe(true);
    expect(written()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(log).toContainEqual(expect.stringContaining('offset 2 of in-0 is of a topic that was deleted and created again'));
    app.crash();
  });

  it('while the app is down is read from its beginning, too', async () => {
    const app = copying('earliest');
    app.start();
    write('a', 'b');
    expect(await world.run(60_000, () => kafka.committedOffsets('copy')[0]?.offset === 2)).toBe(true);
    app.crash();
    await deleteAndCreateUnderItsOffsets();
    write('c', 'd', 'e', 'f');
    app.start();
    expect(await world.run(60_000, () => written().length === 6)).toBe(true);
    expect(written()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    app.crash();
  });

  it('ends an app without a policy', async () => {
    const app = copying('earliest');
    app.start();
    write('a', 'b');
    expect(await world.run(60_000, () => kafka.committedOffsets('copy')[0]?.offset === 2)).toBe(true);
    app.crash();
    await deleteAndCreateUnderItsOffsets();
    const strict = copying('none');
    write('c', 'd', 'e', 'f');
    strict.start();
    expect(await world.run(60_000, () => strict.errors.length > 0)).toBe(true);
    expect(strict.errors).toMatchObject([{ code: 'MILL_TOPIC_RECREATED', details: { topic: 'in', partition: 0, offset: 2 } }]);
    expect(written()).toEqual(['a', 'b']);
    strict.crash();
  });
});
