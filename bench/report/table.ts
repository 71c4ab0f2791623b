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
  const byName = new Map(results.map((result) => [result.row, result]));
  for (const result of results) {
    if (/^(cpu|memory)-/.test(result.row)) continue;
    const { row, unit, ours, theirs, ratio } = result;
    const measured = row.replace(/-p\d+$/, '');
    table.push([
      row,
      unit,
      figure(ours),
      figure(theirs),
      times(ratio),
      ...cost(byName.get(`cpu-${measured}`)),
      ...cost(byName.get(`memory-${measured}`)),
    ]);
  }
  return table.toString();
}

function cost(result: RowResult | undefined): [string, string] {
  return result === undefined ? ['', ''] : [`${figure(result.ours)} / ${figure(result.theirs)}`, times(result.ratio)];
}

function figure(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

function times(ratio: number): string {
  const text = `${ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2)}×`;
  return ratio >= 1 ? pc.green(text) : pc.red(text);
}
