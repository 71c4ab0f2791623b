import Table from 'cli-table3';
import pc from 'picocolors';
import type { RowResult } from './summary.js';

/** The results as a table; CPU and memory of a row stand on its own line. */
export function formatTable(results: readonly RowResult[]): string {
  const table = new Table({
    head: ['row', 'unit', 'ours', 'theirs', 'ratio', 'CPU ours / theirs', 'ratio', 'peak MB ours / theirs', 'ratio'],
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
  });
  for (const { row, cpu, memory } of tableLines(results)) {
    table.push([row.row, row.unit, figure(row.ours), figure(row.theirs), times(row.ratio), ...cost(cpu), ...cost(memory)]);
  }
  return table.toString();
}

export interface TableLine {
  readonly row: RowResult;
  readonly cpu: RowResult | undefined;
  readonly memory: RowResult | undefined;
}

/** Each row with its CPU and memory. */
export function tableLines(results: readonly RowResult[]): TableLine[] {
  const byName = new Map(results.map((result) => [result.row, result]));
  return results
    .filter(({ row }) => !/^(cpu|memory)-/.test(row))
    .map((row) => {
      const measured = row.row.replace(/-p\d+$/, '');
      return { row, cpu: byName.get(`cpu-${measured}`), memory: byName.get(`memory-${measured}`) };
    });
}

function cost(result: RowResult | undefined): [string, string] {
  return result === undefined ? ['', ''] : [`${figure(result.ours)} / ${figure(result.theirs)}`, times(result.ratio)];
}

/** Three digits or so, thousands apart. */
export function figure(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

function times(ratio: number): string {
  const text = timesText(ratio);
  return ratio >= 1 ? pc.green(text) : pc.red(text);
}

export function timesText(ratio: number): string {
  return `${ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2)}×`;
}
