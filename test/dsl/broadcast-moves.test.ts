/** Broadcast state with the tasks that have it: on several instances, over kills and restarts. */
import { afterEach, describe, it } from '@jest/globals';
import type { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { BroadcastAccess, BroadcastProcessor, BroadcastProcessorContext } from '../../src/processors/broadcast/broadcast-processor.js';
import type { Record } from '../../src/processors/processor.js';
import { mapState } from '../../src/processors/state/state-descriptor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka, type TestKafka } from '../../src/testing/test-kafka.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const taken = mapState<string, number>('taken', { keySerde: serdes.string, serde: serdes.double });

/** Tells with each record of the data how often the task has taken each rule. */
class Taken implements BroadcastProcessor<string, string, string, string, string, string> {
  declare private context: BroadcastProcessorContext<string, string>;

  init(context: BroadcastProcessorContext<string, string>): void {
    this.context = context;
  }

  process({ key }: Record<string, string>): void | Promise<void> {
    const known = this.context.broadcastState(taken).entries();
    return this.context.forward({ key, value: known.map(([rule, times]) => `${rule}=${times}`).join(' ') });
  }

  processBroadcast({ key }: Record<string, string>, broadcast: BroadcastAccess): void {
    const state = broadcast.state(taken);
    state.put(key, (state.get(key) ?? 0) + 1);
  }
}

function topology() {
  const builder = new StreamsBuilder();
  const rules = builder.stream('rules', text).broadcast({ name: 'rules', states: [taken] });
  builder
    .stream('data', text)
    .connect(rules)
    .process(() => new Taken(), { name: 'taken', ...text })
    .to('out');
  return builder.build();
}

const apps: StreamsApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close({ timeout: 2_000 }).catch(() => undefined);
});

function cluster() {
  const kafka = inMemoryKafka();
  for (const [topic, partitions] of [
    ['rules', 2],
    ['data', 3],
    ['out', 1],
  ] as const)
    kafka.createTopic(topic, partitions);
  const start = async (instance: string): Promise<StreamsApp> => {
    const app = kafka.app(topology(), { applicationId: 'app', instance, sessionTimeout: 400 });
    apps.push(app);
    await app.start();
    return app;
  };
  const out = kafka.outputTopic('out', text);
  /** What each of the three tasks knows, asked again until all know `rules`. */
  const allKnow = async (rules: string): Promise<void> => {
    const data = kafka.inputTopic('data', text);
    const known = new Map<string, string>();
    await untilKnown(kafka, async () => {
      for (const partition of [0, 1, 2]) await data.pipe(String(partition), 'v', { partition });
      for (const { key, value } of out.readAll()) known.set(key ?? '', value ?? '');
      return ['0', '1', '2'].every((key) => known.get(key) === rules);
    });
  };
  return { kafka, start, allKnow, rules: kafka.inputTopic('rules', text) };
}

async function untilKnown(kafka: TestKafka, ask: () => Promise<boolean>): Promise<void> {
  let isKnown = false;
  let asking: Promise<void> | null = null;
  await kafka.until(() => {
    asking ??= ask().then((answer) => {
      isKnown ||= answer;
      asking = null;
    });
    return isKnown;
  });
}

describe('broadcast state', () => {
  it('is that of the last commit after a kill, goes along with a task that moves, and reaches every instance', async () => {
    const { kafka, start, allKnow, rules } = cluster();
    const first = await start('one');
    await rules.pipe('a', 'x');
    await rules.pipe('b', 'x');
    await rules.pipe('a', 'x');
    await allKnow('a=2 b=1');

    const second = await start('two');
    await rules.pipe('b', 'x');
    await allKnow('a=2 b=2');

    await kafka.kill(first);
    apps.splice(apps.indexOf(first), 1);
    await rules.pipe('c', 'x');
    await allKnow('a=2 b=2 c=1');

    await second.close();
    await start('three');
    await rules.pipe('a', 'x');
    await allKnow('a=3 b=2 c=1');
  });
});
