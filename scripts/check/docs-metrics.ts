import { readFile, writeFile } from 'node:fs/promises';
import { metricCatalogue, type MetricInfo } from '../../src/app/metric-catalogue.js';

/** The page that is made from the catalogue of metrics: a table for each part, between `<!-- metrics <part> -->` and `<!-- end -->`. */
export const metricsPage = 'docs/Reference/metrics.md';

const parts: Readonly<Record<string, Readonly<Record<string, MetricInfo>>>> = metricCatalogue;
const header = ['field', 'unit', 'meaning', 'Flink', 'Kafka Streams'];

/** What the page says otherwise than the catalogue. */
export async function metricsPageFaults(): Promise<string[]> {
  const page = await readFile(metricsPage, 'utf8');
  return Object.entries(parts).flatMap(([part, metrics]) => {
    const shown = tableOf(page, part);
    if (shown === null) return [`${metricsPage}: there is no table <!-- metrics ${part} -->`];
    const isSame = cellsOf(shown).join('\n') === rowsOf(metrics).join('\n');
    return isSame
      ? []
      : [
          `${metricsPage}: the table of ${part} is not as src/app/metric-catalogue.ts says: node scripts/run.mjs scripts/build/metrics-page.ts`,
        ];
  });
}

/** Writes the tables anew; prettier aligns them afterwards. */
export async function writeMetricsPage(): Promise<void> {
  let page = await readFile(metricsPage, 'utf8');
  for (const [part, metrics] of Object.entries(parts)) {
    const table = [row(header), row(header.map(() => '---')), ...rowsOf(metrics)].join('\n');
    page = page.replace(tableIn(part), () => `<!-- metrics ${part} -->\n\n${table}\n\n<!-- end -->`);
  }
  await writeFile(metricsPage, page);
}

function rowsOf(metrics: Readonly<Record<string, MetricInfo>>): string[] {
  return Object.entries(metrics).map(([field, { unit, meaning, counter, flink, kafkaStreams }]) =>
    row([`\`${field}\``, counter === true ? `${unit}, counter` : unit, meaning, names(flink), names(kafkaStreams)]),
  );
}

function names(text = ''): string {
  return text === ''
    ? ''
    : text
        .split(', ')
        .map((name) => `\`${name}\``)
        .join(', ');
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function tableOf(page: string, part: string): string | null {
  return tableIn(part).exec(page)?.[1] ?? null;
}

function tableIn(part: string): RegExp {
  return new RegExp(`<!-- metrics ${part} -->([\\s\\S]*?)<!-- end -->`);
}

/** The rows below the header, without the blanks that align them. */
function cellsOf(table: string): string[] {
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map((line) =>
      row(
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
    );
}
