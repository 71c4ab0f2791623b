import { describe, expect, it } from '@jest/globals';
import { formatMarkdown } from '../../bench/report/markdown.js';
import { summarise } from '../../bench/report/summary.js';

describe('the result as a Markdown table', () => {
  it('has a line for each row, with the ratios of its CPU time and memory and the spread of its rounds', () => {
    const table = formatMarkdown([
      summarise('map-eos', 'records/s', 'higher', { ours: [1_000_000, 1_200_000, 900_000], theirs: [300_000, 300_000, 300_000] }),
      summarise('cpu-map-eos', 'CPU s per million records', 'lower', { ours: [1], theirs: [5] }),
      summarise('memory-map-eos', 'MB', 'lower', { ours: [100], theirs: [250] }),
    ]);

    expect(table).toBe(
      [
        '| row | unit | Millrace | theirs | ratio | spread | CPU ratio | memory ratio |',
        '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
        '| `map-eos` | records/s | 1,000,000 | 300,000 | 3.33× | 3.00×–4.00× | 5.00× | 2.50× |',
        '',
      ].join('\n'),
    );
  });

  it('gives one ratio for both percentiles of a latency, and no spread of a single round', () => {
    const table = formatMarkdown([
      summarise('commit-latency-p50', 'ms', 'lower', { ours: [50], theirs: [60] }),
      summarise('commit-latency-p99', 'ms', 'lower', { ours: [100], theirs: [90] }),
      summarise('cpu-commit-latency', 'CPU s', 'lower', { ours: [1], theirs: [3] }),
    ]);

    expect(table.split('\n').slice(2, 4)).toEqual([
      '| `commit-latency-p50` | ms | 50 | 60 | 1.20× |  | 3.00× |  |',
      '| `commit-latency-p99` | ms | 100 | 90 | 0.90× |  | 3.00× |  |',
    ]);
  });
});
