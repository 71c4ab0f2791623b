import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { runTopology, strings, type Input } from './run-topology.js';

describe('print', () => {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  const inputs: Input[] = [
    ['k', 'v', 1],
    [null, null, 2],
  ];

  it('writes a line a record, labelled with the stream’s name', async () => {
    lines.length = 0;
    const declare = (builder: StreamsBuilder): void => {
      const stream = builder.stream('in', { ...strings, name: 'orders' });
      stream.print({ write });
      stream.to('out', strings);
    };
    await runTopology(declare, inputs);
    expect(lines).toEqual(['[orders]: k, v', '[orders]: null, null']);
  });

  it('shows objects on one line, under a label of its own', async () => {
    lines.length = 0;
    const declare = (builder: StreamsBuilder): void => {
      const stream = builder.stream('in', strings);
      stream.mapValues((value) => ({ value, list: [1, 2] })).print({ label: 'parsed', write });
      stream.to('out', strings);
    };
    expect((await runTopology(declare, inputs.slice(0, 1))).out).toEqual(['k=v@1']);
    expect(lines).toEqual(["[parsed]: k, { value: 'v', list: [ 1, 2 ] }"]);
  });

  it('is named as in Kafka Streams, and refuses what it does not know', () => {
    const builder = new StreamsBuilder();
    const stream = builder.stream('in', strings);
    stream.print();
    expect(builder.build().describe()).toContain('KSTREAM-PRINTER-0000000001');
    expect(() => stream.print({ lable: 'x' } as never)).toThrow('print has no option lable; did you mean label?');
    expect(() => stream.print({ write: 'console' } as never)).toThrow('print: the option write must be a function, not "console".');
  });
});

describe('a join with a global table', () => {
  it('tells the joiner the key of the row too (KIP-1340)', async () => {
    const declare = (builder: StreamsBuilder): void => {
      const rows = builder.globalTable('rows', { keySerde: serdes.string, valueSerde: serdes.string });
      builder
        .stream('in', strings)
        .leftJoin(rows, (value, row, key, rowKey) => [value, row, key, rowKey].join(' '), {
          keyOf: (value) => (value === '' ? null : value),
          ...strings,
        })
        .to('out', strings);
    };
    const { out } = await runTopology(declare, [
      ['a', 'row a', 1, 'rows'],
      ['k', 'a', 2],
      ['k', '', 3],
    ]);
    expect(out).toEqual(['k=a row a k a@2', 'k=  k @3']);
  });
});
