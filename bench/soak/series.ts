import type { SideReport } from '../harness/side-report.js';

export type MemoryReport = Extract<SideReport, { event: 'memory' }>;

/** Columns of equal length, for a picture. Memory is megabytes. */
export interface Series {
  readonly seconds: readonly number[];
  readonly recordsPerSecond: readonly number[];
  /** Resident, and what of it is private to the process or a mapped file. */
  readonly rss: readonly number[];
  readonly private: readonly number[];
  readonly files: readonly number[];
  readonly heapUsed: readonly number[];
  readonly heapTotal: readonly number[];
  readonly arrayBuffers: readonly number[];
  /** As `app.metrics().memory`. */
  readonly cached: readonly number[];
  readonly uncommitted: readonly number[];
  readonly buffered: readonly number[];
  readonly engine: readonly number[];
}

export function seriesOf(reports: readonly MemoryReport[]): Series {
  const megabytes = (bytes: (report: MemoryReport) => number): number[] => reports.map((report) => Math.round(bytes(report) / 1e5) / 10);
  const [first] = reports;
  return {
    seconds: reports.map(({ at }) => Math.round((at - (first?.at ?? 0)) / 100) / 10),
    recordsPerSecond: reports.map((report, i) => {
      const before = reports[i - 1];
      return before === undefined ? 0 : Math.round(((report.processed - before.processed) / (report.at - before.at)) * 1000);
    }),
    rss: megabytes(({ privateBytes, fileBytes }) => privateBytes + fileBytes),
    private: megabytes(({ privateBytes }) => privateBytes),
    files: megabytes(({ fileBytes }) => fileBytes),
    heapUsed: megabytes(({ heapUsed }) => heapUsed),
    heapTotal: megabytes(({ heapTotal }) => heapTotal),
    arrayBuffers: megabytes(({ arrayBuffers }) => arrayBuffers),
    cached: megabytes(({ held }) => held?.cachedBytes ?? 0),
    uncommitted: megabytes(({ held }) => held?.uncommittedBytes ?? 0),
    buffered: megabytes(({ held }) => held?.bufferedBytes ?? 0),
    engine: megabytes(({ held }) => held?.engineBytes ?? 0),
  };
}
