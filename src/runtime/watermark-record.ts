/**
 * Watermarks on their way through a repartition topic: a record without key and value, with one header of a reserved name that says where the tasks of one
 * stream thread are. A source skips it before anything is decoded.
 *
 * Who else reads the topic sees a null key and a null value. Kafka Streams drops such a record at whatever needs a key, and its timestamp is one that data has
 * had, so that it moves nobody's stream time.
 */
import type { Headers } from '../bytes/headers.js';
import type { UpstreamMark } from '../time/watermarks/source-watermarks.js';

export const watermarkHeader = '__millrace.watermarks';

/** Task id, watermark (null: none yet; "end": there is no more to come), and "idle" when nothing is to be expected from it. */
type Entry = readonly [string, number | null | 'end', 'idle'?];

export function watermarkHeaders(marks: ReadonlyMap<string, UpstreamMark>): Headers {
  const entries = [...marks].map(([task, { watermark, idle }]): Entry => {
    const told = watermark === Infinity ? 'end' : watermark === -Infinity ? null : watermark;
    return idle ? [task, told, 'idle'] : [task, told];
  });
  return [{ key: watermarkHeader, value: Buffer.from(JSON.stringify(entries)) }];
}

/** null when the record is no watermark. What a later version may have put in besides is left out. */
export function readWatermarks(headers: Headers): Map<string, UpstreamMark> | null {
  const header = headers.find(({ key }) => key === watermarkHeader);
  if (header === undefined) return null;
  const marks = new Map<string, UpstreamMark>();
  for (const entry of entriesOf(header.value)) {
    if (!Array.isArray(entry)) continue;
    const [task, told, idle] = entry as readonly unknown[];
    const watermark = told === 'end' ? Infinity : told === null ? -Infinity : told;
    if (typeof task === 'string' && typeof watermark === 'number') marks.set(task, { watermark, idle: idle === 'idle' });
  }
  return marks;
}

function entriesOf(value: Buffer | null): readonly unknown[] {
  try {
    const entries: unknown = JSON.parse(value?.toString() ?? '');
    return Array.isArray(entries) ? entries : [];
  } catch {
    return [];
  }
}
