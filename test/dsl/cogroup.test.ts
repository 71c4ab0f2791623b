/** Several grouped streams with one aggregate. */
import { describe, expect, it } from '@jest/globals';
import type { CogroupedKStream } from '../../src/dsl/cogrouped-kstream.js';
import type { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { tumbling, unlimited } from '../../src/time/time-windows.js';
import { runTopology, strings, write, type Input } from './run-topology.js';

const materialized = { materialized: { valueSerde: serdes.string } };
const inputs: Input[] = [
  ['k', '1', 0, 'one'],
  ['k', '2', 5, 'two'],
  ['k', '3', 12, 'one'],
];

function cogrouped(builder: StreamsBuilder): CogroupedKStream<string, string> {
  return builder
    .stream('one', strings)
    .groupByKey()
    .cogroup((all: string, value) => `${all}-${value}`)
    .cogroup(builder.stream('two', strings).groupByKey(), (all, value) => `${all}+${value}`);
}

describe('cogroup', () => {
  it('lets each stream add to the same row', async () => {
    const { out } = await runTopology((builder) => write(cogrouped(builder).aggregate(() => '0', materialized)), inputs);
    expect(out).toEqual(['k=0-1@0', 'k=0-1+2@5', 'k=0-1+2-3@12']);
  });

  it('tells each row once a commit, whichever stream changed it', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(cogrouped(builder).aggregate(() => '0', { ...materialized, emit: 'onCommit' }));
    const { out } = await runTopology(declare, inputs.slice(0, 2));
    expect(out).toEqual(['k=0-1@0', 'k=0-1+2@5']);
  });

  it('works by time window', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(
        cogrouped(builder)
          .windowedBy(tumbling({ size: 10 }))
          .aggregate(() => '0', materialized),
      );
    expect((await runTopology(declare, inputs)).out).toEqual(['[k@0/10]=0-1@0', '[k@0/10]=0-1+2@5', '[k@10/20]=0-3@12']);
  });

  it('has one window without an end', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(
        cogrouped(builder)
          .windowedBy(unlimited({ start: 1 }))
          .aggregate(() => '0', materialized),
      );
    const end = Number.MAX_SAFE_INTEGER;
    expect((await runTopology(declare, inputs)).out).toEqual([`[k@1/${end}]=0+2@5`, `[k@1/${end}]=0+2-3@12`]);
  });

  it('works by sliding window', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(
        cogrouped(builder)
          .windowedBy(sliding({ timeDifference: 6 }))
          .aggregate(() => '0', materialized),
      );
    expect((await runTopology(declare, inputs.slice(0, 2))).out).toEqual(['[k@0/6]=0-1@0', '[k@1/7]=0+2@5', '[k@0/6]=0-1+2@5']);
  });

  it('works by session', async () => {
    const declare = (builder: StreamsBuilder): void =>
      write(
        cogrouped(builder)
          .windowedBy(sessions({ gap: 5 }))
          .aggregate(
            () => '0',
            (one, other) => `${one}&${other}`,
            materialized,
          ),
      );
    const { out } = await runTopology(declare, inputs);
    expect(out).toEqual(['[k@0/0]=0-1@0', '[k@0/0]=null@0', '[k@0/5]=0&0-1+2@5', '[k@12/12]=0-3@12']);
  });

  it('repartitions the streams whose keys have changed', async () => {
    const declare = (builder: StreamsBuilder): void => {
      const rekeyed = builder.stream('one', strings).selectKey((value) => value, { keySerde: serdes.string });
      const both = rekeyed
        .groupByKey()
        .cogroup((all: string, value) => `${all}-${value}`)
        .cogroup(builder.stream('two', strings).groupByKey(), (all, value) => `${all}+${value}`);
      write(both.aggregate(() => '0', materialized));
    };
    const { out } = await runTopology(declare, [
      ['x', 'k', 0, 'one'],
      ['k', '2', 5, 'two'],
    ]);
    expect(out).toEqual(['k=0-k@0', 'k=0-k+2@5']);
  });
});
