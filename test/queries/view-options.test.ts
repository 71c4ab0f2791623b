/** What reads of views are asked is checked: with a misspelt bound they would read the whole store. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka } from '../../src/testing/test-kafka.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { sessions } from '../../src/time/session-windows.js';
import { tumbling } from '../../src/time/time-windows.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

function topology() {
  const builder = new StreamsBuilder();
  const grouped = builder.stream('in', text).groupByKey();
  grouped.count({ materialized: { storeName: 'counts' } });
  grouped.windowedBy(tumbling({ size: 10 })).count({ materialized: { storeName: 'windows' } });
  grouped.windowedBy(sessions({ gap: 10 })).count({ materialized: { storeName: 'sessions' } });
  builder.table('versions', { ...text, materialized: { storeName: 'versions', historyRetention: 1000 } });
  return builder.build();
}

async function views(driver: TopologyTestDriver) {
  return {
    counts: await driver.view<string, number>('counts'),
    windows: await driver.view<string, number>('windows', { kind: 'window' }),
    sessions: await driver.view<string, number>('sessions', { kind: 'session' }),
    versions: await driver.view<string, string>('versions', { kind: 'versioned' }),
  };
}

type Views = Awaited<ReturnType<typeof views>>;

const wrong: readonly (readonly [read: string, message: string, (of: Views) => unknown])[] = [
  ['range', 'range has no option limt; did you mean limit?', ({ counts }) => counts.range({ limt: 3 } as never)],
  ['range by position', 'range: the options must be an object, not "a".', ({ counts }) => counts.range('a' as never)],
  ['a limit', 'limit must be a whole number of at least 1, not 3', ({ counts }) => counts.range({ limit: '3' as never })],
  ['a direction', 'range: the option reverse must be true or false, not "yes".', ({ counts }) => counts.range({ reverse: 'yes' as never })],
  ['all', 'all has no option from', ({ counts }) => counts.all({ from: 'a' } as never)],
  ['prefix', 'prefix has no option to', ({ counts }) => counts.prefix('a', { to: 'b' } as never)],
  ['no prefix', 'prefix: the prefix must be a text or bytes, not undefined.', ({ counts }) => counts.prefix(undefined as never)],
  ['fetch', 'fetch has no option form; did you mean from?', ({ windows }) => windows.fetch('a', { form: 0 } as never)],
  ['fetch by position', 'fetch: the options must be an object, not 0.', ({ windows }) => windows.fetch('a', 0 as never)],
  [
    'fetchAll',
    'fetchAll has no option keys.prefx; did you mean keys.prefix?',
    ({ windows }) => windows.fetchAll({ keys: { prefx: 'a' } } as never),
  ],
  ['a time', 'fetch: the option from must be a number, not "0".', ({ windows }) => windows.fetch('a', { from: '0' as never })],
  ['a window', 'start must be a time in ms, not undefined.', ({ windows }) => windows.get('a', undefined as never)],
  ['fetch of sessions', 'fetch has no option until', ({ sessions: view }) => view.fetch('a', { until: 5 } as never)],
  [
    'fetchAll of sessions',
    'fetchAll has no option limits; did you mean limit?',
    ({ sessions: view }) => view.fetchAll({ limits: 5 } as never),
  ],
  ['a session', 'end must be a time in ms, not undefined.', ({ sessions: view }) => view.get('a', 1, undefined as never)],
  ['a version', 'get has no option asof; did you mean asOf?', ({ versions }) => versions.get('a', { asof: 5 } as never)],
  ['a version by position', 'get: the options must be an object, not 5.', ({ versions }) => versions.get('a', 5 as never)],
  ['a history', 'history has no option ascend', ({ versions }) => versions.history('a', { ascend: true } as never)],
];

describe('reads of views refuse', () => {
  it.each(wrong)('%s: %s', async (_read, message, read) => {
    await using driver = new TopologyTestDriver(topology());
    const all = await views(driver);
    const attempt = async (): Promise<unknown> => read(all);
    await expect(attempt()).rejects.toMatchObject({ code: 'MILL_QUERY_INVALID', message: expect.stringContaining(message) });
  });
});

describe('the tools of tests refuse', () => {
  const rows: readonly (readonly [what: string, message: string, () => unknown])[] = [
    ['inMemoryKafka', 'inMemoryKafka has no option broker; did you mean brokers?', () => inMemoryKafka({ broker: 3 } as never)],
    ['its brokers', 'the option brokers must be a whole number, 1 or more, not 0', () => inMemoryKafka({ brokers: 0 })],
    [
      'a topic',
      'createTopic: the partitions must be a whole number, 1 or more, not an object',
      () => inMemoryKafka().createTopic('t', { partitions: 2 } as never),
    ],
    [
      'an instance',
      'app: the option instance must be a text, not 5',
      () => inMemoryKafka().app(topology(), { applicationId: 'a', instance: 5 as never }),
    ],
    [
      'an option of the app',
      'commitIntervall is not an option; did you mean commitInterval?',
      () => inMemoryKafka().app(topology(), { applicationId: 'a', commitIntervall: 5 } as never),
    ],
    ['a wait', 'until: the timeout must be milliseconds, 0 or more', () => inMemoryKafka().until(() => true, 'soon' as never)],
    [
      'pipe',
      'pipe has no option timestap; did you mean timestamp?',
      () => new TopologyTestDriver(topology()).inputTopic('in', text).pipe('a', 'x', { timestap: 5 } as never),
    ],
    [
      'pipeAll',
      'pipeAll has no option ts',
      () => new TopologyTestDriver(topology()).inputTopic('in', text).pipeAll([{ key: 'a', value: 'x', ts: 5 } as never]),
    ],
    [
      'headers',
      'pipe: the option headers must be an array, not an object',
      () => new TopologyTestDriver(topology()).inputTopic('in', text).pipe('a', 'x', { headers: { a: 'b' } as never }),
    ],
  ];

  it.each(rows)('%s: %s', async (_what, message, attempt) => {
    const run = async (): Promise<unknown> => attempt();
    await expect(run()).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID', message: expect.stringContaining(message) });
  });
});
