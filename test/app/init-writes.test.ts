import { afterEach, describe, expect, it } from '@jest/globals';
import type { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { operatorListState } from '../../src/processors/operator-state/operator-state-descriptor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka } from '../../src/testing/test-kafka.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const ids = operatorListState<string>('ids', { serde: serdes.string });
const apps: StreamsApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close({ timeout: 2000 }).catch(() => undefined);
});

/** Two tasks, each of which gives itself an id when it has none. */
function start(commitInterval: number) {
  const kafka = inMemoryKafka();
  kafka.createTopic('in', 2);
  let made = 0;
  const seen: (readonly string[])[] = [];
  const builder = new StreamsBuilder();
  builder.stream('in', text).process<string, string>(
    () => ({
      init: (context) => {
        const state = context.operatorState(ids);
        seen.push(state.get());
        if (state.get().length === 0) state.add(`id-${++made}`);
      },
      process: () => undefined,
    }),
    { name: 'p', operatorStates: [ids] },
  );
  const topology = builder.build();
  const run = async (): Promise<StreamsApp> => {
    const app = kafka.app(topology, { applicationId: 'a', instance: 'one', commitInterval });
    apps.push(app);
    await app.start();
    await kafka.until(() => Object.values(app.metrics().tasks).filter(({ active }) => active).length === 2);
    return app;
  };
  const changelog = () => kafka.outputTopic('a-p-operator-ids-changelog', { keySerde: serdes.bytes, valueSerde: serdes.bytes });
  return { kafka, seen, run, changelog };
}

const epochs = (app: StreamsApp): number => app.metrics().epochs?.epochs ?? 0;

describe('what init writes, though no record comes', () => {
  it('is committed by the running app, once', async () => {
    const { kafka, run, changelog, seen } = start(20);
    const app = await run();
    await kafka.until(() => changelog().size === 2);
    await kafka.until(() => epochs(app) > 0);
    expect(epochs(app)).toBeLessThanOrEqual(2);
    await app.close();
    const again = await run();
    expect(seen.slice(2).flat().sort()).toEqual(['id-1', 'id-2']);
    // The record's is the first epoch: nothing was committed for what was there already.
    await kafka.inputTopic('in', text).pipe('k', 'v');
    await kafka.until(() => epochs(again) > 0);
    expect(epochs(again)).toBe(1);
  });

  it('is committed at close, when no commit was due before', async () => {
    const { run, seen } = start(5_000);
    await (await run()).close();
    await run();
    expect(seen.slice(2).flat().sort()).toEqual(['id-1', 'id-2']);
  });
});
