import { describe, expect, it } from '@jest/globals';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyBuilder } from '../../src/topology/topology-builder.js';
import { storeSpec } from './stores.js';

const started = (): TopologyBuilder => new TopologyBuilder().addSource('in', { topics: ['in'] });
/** As a caller in plain JavaScript writes it. */
const wrong = (options: object): never => options as never;

describe('options of a topology builder', () => {
  it.each([
    [
      () => started().addSource('s', wrong({ topics: ['a'], keySerd: serdes.string })),
      'addSource has no option keySerd; did you mean keySerde?',
    ],
    [() => started().addSource('s', wrong({ topics: 'a' })), 'addSource: the option topics must be an array, not "a"'],
    [() => started().addSource('s', wrong({ topic: ['a'] })), 'addSource has no option topic; did you mean topics?'],
    [() => started().addSource('s', wrong({})), 'Source s: the option topics must be an array of names of topics, not undefined.'],
    [
      () => started().addSource('s', wrong({ topics: ['a'], offsetReset: 'earlyest' })),
      'addSource: the option offsetReset must be "earliest", "latest", "none" or { duration: whole milliseconds, 0 or more }, not "earlyest"',
    ],
    [
      () => started().addSink('s', 'out', ['in'], wrong({ partitoner: null })),
      'addSink has no option partitoner; did you mean partitioner?',
    ],
    [() => started().addSink('s', 'out', ['in'], wrong({ valueSerde: 'text' })), 'addSink: the option valueSerde must be a serde'],
    [
      () => started().addStateStore(storeSpec('s'), wrong({ processor: ['p'] })),
      'addStateStore has no option processor; did you mean processors?',
    ],
    [
      () =>
        started().addGlobalStore(
          storeSpec('g', { logged: false }),
          wrong({ topic: 't', sourceName: 's', processorName: 'p', valueSerd: serdes.string }),
        ),
      'addGlobalStore has no option valueSerd; did you mean valueSerde?',
    ],
    [
      () => started().addRepartitionTopic('r', 2, wrong({ carriesWatermark: true })),
      'addRepartitionTopic has no option carriesWatermark; did you mean carriesWatermarks?',
    ],
  ])('are refused when they are not there, or of a wrong kind: %#', (attempt, message) => {
    expect(attempt).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID', message: expect.stringContaining(message) }));
  });

  it('may be null, as if they were left out', () => {
    const nothing = { keySerde: null, valueSerde: null };
    const topology = new TopologyBuilder()
      .addSource('in', { topics: ['in'], ...nothing, timestampExtractor: null, offsetReset: null, watermarks: null })
      .addSink('out', 'out', ['in'], { ...nothing, partitioner: null })
      .build();
    expect([...topology.nodes.keys()]).toEqual(['in', 'out']);
  });
});
