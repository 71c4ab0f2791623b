import { expect, it } from '@jest/globals';
import { LookupWork } from '../../../src/processors/lookup/lookup-work.js';
import type { AsyncCall } from '../../../src/processors/async/async-operator.js';
import { compileSerde } from '../../../src/serdes/compile-serde.js';
import type { OperatorContext } from '../../../src/processors/operator.js';
import { serdes } from '../../../src/serdes/serdes.js';
import { FakeKeyValueStore } from '../harness/fake-stores.js';

it('a call counts as expired what the cache had for its own key, whatever was asked for in between', async () => {
  const counted: string[] = [];
  let now = 0;
  const store = new FakeKeyValueStore('cache');
  const work = new LookupWork<string, string, string, string, string>({
    keyOf: (value) => value,
    lookup: (key) => key,
    joiner: (_value, row) => String(row),
    isLeft: false,
    attemptsForRow: 1,
    keySerde: serdes.string,
    cache: { ttl: 1000, missingTtl: 1000, maxRows: 10, storeName: 'cache', valueSerde: serdes.string },
  });
  work.init({
    nodeName: 'join',
    wallClock: () => now,
    schedule: () => ({ cancel: () => undefined }),
    serde: compileSerde,
    store: () => store,
    record: { timestamp: 0 },
    calls: { count: (what: string) => counted.push(what) },
    downstream: { process: () => undefined },
  } as unknown as OperatorContext);
  const call: AsyncCall = { attempt: 1 } as AsyncCall;
  const found = await work.call('old', 'k', call);
  work.learn(found);
  now = 2000;
  counted.length = 0;
  expect(work.answer('old', 'k')).toBeNull();
  expect(work.answer('new', 'k')).toBeNull();
  await work.call('old', 'k', call);
  await work.call('new', 'k', call);
  expect(counted).toEqual(['miss', 'expired', 'miss']);
});
