/** The curves as pictures: records a second and CPU time a record over what was changed, both sides, both axes logarithmic. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as echarts from 'echarts';
import type { Curve } from '../rows/curves.js';
import { curves, pointName } from '../rows/curves.js';
import type { RowResult } from './summary.js';

const sides = [
  { side: 'ours', label: 'Millrace', dash: 'solid' },
  { side: 'theirs', label: 'Kafka Streams', dash: 'dashed' },
] as const;
const colours = ['#0969da', '#bf3989'];
const width = 900;
const height = 380;

/** One file `curve-<name>.svg` for each curve that has results. */
export async function drawCurves(results: readonly RowResult[], folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const curve of curves) {
    const picture = drawCurve(curve, results);
    if (picture !== null) await writeFile(join(folder, `curve-${curve.name}.svg`), picture);
  }
}

/** An SVG; null when no point of the curve was measured. */
export function drawCurve(curve: Curve, results: readonly RowResult[]): string | null {
  const byName = new Map(results.map((result) => [result.row, result]));
  const lines = Object.keys(curve.lines).filter((line) => curve.points.some((point) => byName.has(pointName(curve, line, point))));
  if (lines.length === 0) return null;
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption(optionOf(curve, lines, byName));
    return `${chart.renderToSVGString()}\n`;
  } finally {
    chart.dispose();
  }
}

function optionOf(curve: Curve, lines: readonly string[], byName: ReadonlyMap<string, RowResult>): echarts.EChartsCoreOption {
  const panels = [
    { title: 'records a second', prefix: '', left: 80 },
    { title: 'µs of CPU a record', prefix: 'cpu-', left: 530 },
  ];
  const xAxis = { type: 'category', data: curve.points.map((point) => point.toLocaleString('en')), name: curve.axis };
  const series = panels.flatMap(({ prefix }, panel) =>
    lines.flatMap((line, index) =>
      sides.map(({ side, label, dash }) => ({
        type: 'line',
        name: `${line}, ${label}`,
        xAxisIndex: panel,
        yAxisIndex: panel,
        symbolSize: 7,
        color: colours[index],
        lineStyle: { type: dash },
        // A point that failed leaves a gap.
        data: curve.points.map((point) => byName.get(`${prefix}${pointName(curve, line, point)}`)?.[side] ?? null),
      })),
    ),
  );
  return {
    animation: false,
    backgroundColor: '#ffffff',
    legend: { bottom: 4, itemGap: 24, itemWidth: 40 },
    title: panels.map(({ title, left }) => ({ text: title, left: left - 10, top: 8, textStyle: { fontSize: 14 } })),
    grid: panels.map(({ left }) => ({ left, top: 50, width: 340, height: 230 })),
    xAxis: panels.map((_panel, gridIndex) => ({ ...xAxis, gridIndex, nameLocation: 'middle', nameGap: 28 })),
    yAxis: panels.map((_panel, gridIndex) => ({ type: 'log', gridIndex, minorTick: { show: true } })),
    series,
  };
}
