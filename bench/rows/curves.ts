/** How the cost of a record grows: the two main workloads, with one thing of the load changed from point to point. */
import type { RowResult } from '../report/summary.js';
import type { Row } from './row.js';
import type { Load } from './throughput.js';
import { runThroughput } from './throughput.js';
import type { Workload } from './workload.js';
import { workloads } from './workload.js';

export interface Curve {
  readonly name: string;
  /** What is changed, with its unit. */
  readonly axis: string;
  readonly points: readonly number[];
  readonly lines: Readonly<Record<string, Workload>>;
  /** @param records those that are measured by default */
  load(point: number, records: number): Load;
}

/** Of the values of one round, so that large ones do not fill the disk. */
const mostValueBytes = 1_000_000_000;

const map = workloads.map;
const count = workloads['count-100k'];

export const curves: readonly Curve[] = [
  { name: 'partitions', axis: 'partitions', points: [4, 32, 256], lines: { map, count }, load: (partitions) => ({ partitions }) },
  {
    name: 'value-bytes',
    axis: 'bytes of a value',
    points: [10, 100, 1_000, 10_000],
    lines: { map, count },
    load: (valueBytes, records) => ({ valueBytes, records: Math.min(records, Math.ceil(mostValueBytes / valueBytes)) }),
  },
  {
    name: 'commit-interval',
    axis: 'commit interval, ms',
    points: [10, 100, 1_000, 10_000],
    lines: { map, count },
    load: (commitInterval) => ({ commitInterval }),
  },
  {
    name: 'keys',
    axis: 'keys',
    points: [10_000, 100_000, 1_000_000, 10_000_000],
    lines: { count: workloads['count-10m'] },
    load: (keys) => ({ keys }),
  },
];

/** One row for each line of each curve. */
export const curveRows: readonly Row[] = curves.flatMap((curve) =>
  Object.entries(curve.lines).map(([line, workload]): Row => ({
    name: `curve-${curve.name}-${line}`,
    against: 'Kafka Streams',
    onlyIfNamed: true,
    async run(bench) {
      const results: RowResult[] = [];
      for (const point of curve.points) {
        const load = curve.load(point, bench.options.records);
        const name = pointName(curve, line, point);
        results.push(
          ...(await runThroughput(bench, { name, workload, guarantee: 'exactly_once', against: 'Kafka Streams', threads: 1, load })),
        );
      }
      return results;
    },
  })),
);

/** Of the results at a point. */
export function pointName({ name }: Curve, line: string, point: number): string {
  return `curve-${name}-${line}.${point}`;
}
