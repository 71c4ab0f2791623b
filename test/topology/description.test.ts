import { describe, expect, it } from '@jest/globals';
import { passThroughOperator } from '../../src/processors/pass-through.js';
import { topologyFingerprint } from '../../src/topology/fingerprint.js';
import { TopologyBuilder } from '../../src/topology/topology-builder.js';
import { storeSpec } from './stores.js';

const pass = passThroughOperator();

function build() {
  return new TopologyBuilder()
    .addSource('source', { topics: ['b', 'a'] })
    .addOperator('count', pass, ['source'])
    .addOperator('log', pass, ['source'])
    .addStateStore(storeSpec('counts', { windowSize: 10, retention: 20, kind: 'timestampedWindow' }), { processors: ['count'] })
    .addSink('sink', 'out', ['count'])
    .addGlobalStore(storeSpec('rows', { logged: false }), { topic: 'g', sourceName: 'g-source', processorName: 'g-rows' })
    .addSource('others', { pattern: /x-.+/ })
    .addSink(
      'by-name',
      function topicOf() {
        return 'x';
      },
      ['others'],
    );
}

describe('describe()', () => {
  it('has the form of Kafka Streams’ TopologyDescription', () => {
    expect(build().build().describe()).toBe(
      [
        'Topologies:',
        '   Sub-topology: 0',
        '    Source: source (topics: [a, b])',
        '      --> count, log',
        '    Processor: count (stores: [counts])',
        '      --> sink',
        '      <-- source',
        '    Processor: log (stores: [])',
        '      --> none',
        '      <-- source',
        '    Sink: sink (topic: out)',
        '      <-- count',
        '',
        '  Sub-topology: 1 for global store (will not generate tasks)',
        '    Source: g-source (topics: [g])',
        '      --> g-rows',
        '    Processor: g-rows (stores: [rows])',
        '      --> none',
        '      <-- g-source',
        '  Sub-topology: 2',
        '    Source: others (topics: x-.+)',
        '      --> by-name',
        '    Sink: by-name (extractor class: topicOf)',
        '      <-- others',
        '',
        '',
      ].join('\n'),
    );
  });
});

describe('toJSON()', () => {
  it('is plain data with the same nodes', () => {
    const json = JSON.parse(JSON.stringify(build().build())) as { subTopologies: { id: number; nodes: { name: string }[] }[] };
    expect(json.subTopologies.map(({ id, nodes }) => [id, nodes.map(({ name }) => name)])).toEqual([
      [0, ['source', 'count', 'log', 'sink']],
      [2, ['others', 'by-name']],
    ]);
    expect(json).toMatchObject({
      stores: [{ name: 'counts', windowSize: 10, retention: 20, processors: ['count'], sourceTopic: null }],
      globalStores: [{ id: 1, name: 'rows', topic: 'g', source: 'g-source', processor: 'g-rows' }],
    });
  });
});

describe('fingerprint', () => {
  it('is the same for the same topology, another for another', () => {
    expect(topologyFingerprint(build().build())).toBe(topologyFingerprint(build().build()));
    expect(topologyFingerprint(build().addOperator('more', pass, ['log']).build())).not.toBe(topologyFingerprint(build().build()));
  });
});
