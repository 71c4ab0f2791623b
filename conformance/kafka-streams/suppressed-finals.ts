/** A model of `suppress` until windows close, over final results: rows wait until the times of the rows themselves have passed their window's end. */
import type { Json } from '../case.js';

interface Waiting {
  readonly end: number;
  readonly key: Buffer;
  readonly start: number;
  readonly row: readonly Json[];
}

/** For each step, the rows let through, of the rows `[printed key, value, timestamp]` that come in. */
export function suppressedFinals(steps: readonly (readonly (readonly Json[])[])[], grace: number): Json[][][] {
  let waiting: Waiting[] = [];
  let streamTime = -1;
  return steps.map((rows) =>
    rows.flatMap((row) => {
      streamTime = Math.max(streamTime, Number(row[2]));
      waiting.push(waitingRow(row));
      const due = waiting.filter(({ end }) => end <= streamTime - grace);
      waiting = waiting.filter(({ end }) => end > streamTime - grace);
      return due.sort((a, b) => a.end - b.end || Buffer.compare(a.key, b.key) || a.start - b.start).map(({ row: passed }) => [...passed]);
    }),
  );
}

function waitingRow(row: readonly Json[]): Waiting {
  const [, key = '', start, end] = /^\[(.*)@(\d+)\/(\d+)\]$/s.exec(typeof row[0] === 'string' ? row[0] : '') ?? [];
  return { end: Number(end), key: Buffer.from(key), start: Number(start), row };
}
