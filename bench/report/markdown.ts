import type { RowResult } from './summary.js';
import { figure, tableLines, timesText } from './table.js';

const heads = ['row', 'unit', 'Millrace', 'theirs', 'ratio', 'spread', 'CPU ratio', 'memory ratio'];

/** The results as a Markdown table, for README and docs. `spread` is the lowest and highest ratio of the rounds. */
export function formatMarkdown(results: readonly RowResult[]): string {
  const lines = tableLines(results).map(({ row, cpu, memory }) => [
    `\`${row.row}\``,
    row.unit,
    figure(row.ours),
    figure(row.theirs),
    timesText(row.ratio),
    spreadOf(row),
    cpu === undefined ? '' : timesText(cpu.ratio),
    memory === undefined ? '' : timesText(memory.ratio),
  ]);
  const rule = heads.map((_head, column) => (column < 2 ? '---' : '---:'));
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function spreadOf({ spread: [lowest, highest], rounds }: RowResult): string {
  return rounds < 2 ? '' : `${timesText(lowest)}–${timesText(highest)}`;
}
