/**
 * What upstream tasks have told of their event time, as a short text: it is committed with the offset of the repartition partition through which they told it,
 * and the metadata of an offset has little room.
 *
 * One part a sub-topology, `<sub-topology>:<lowest watermark>:<partition 0>,<partition 1>,…`, numbers to the base 36: how far each task is above the lowest one;
 * nothing for a task that was not heard of, `-` for one that has no watermark yet, `*` for one at its end, `!` in front of one that is idle.
 */
import type { UpstreamMark } from './source-watermarks.js';

/** Longest text; with more upstream tasks than fit, what they told is left out and has to be told again. */
export const longestMarkText = 3_000;

/** null when it does not fit. @param marks by task id, `<sub-topology>_<partition>` */
export function encodeMarks(marks: ReadonlyMap<string, UpstreamMark>): string | null {
  const subTopologies = new Map<string, Map<number, UpstreamMark>>();
  for (const [task, mark] of marks) {
    const [subTopology = '', partition = ''] = task.split('_');
    const tasks = subTopologies.get(subTopology) ?? new Map<number, UpstreamMark>();
    subTopologies.set(subTopology, tasks.set(Number(partition), mark));
  }
  const text = [...subTopologies].map(([subTopology, tasks]) => `${subTopology}:${encodeTasks(tasks)}`).join(';');
  return text.length <= longestMarkText ? text : null;
}

/** What is not understood is left out. */
export function decodeMarks(text: string): Map<string, UpstreamMark> {
  const marks = new Map<string, UpstreamMark>();
  for (const part of text.split(';')) {
    const [subTopology = '', base = '', tasks = ''] = part.split(':');
    tasks.split(',').forEach((entry, partition) => {
      if (entry === '') return;
      const idle = entry.startsWith('!');
      const watermark = decodeWatermark(idle ? entry.slice(1) : entry, parseInt(base, 36));
      if (!Number.isNaN(watermark)) marks.set(`${subTopology}_${partition}`, { watermark, idle });
    });
  }
  return marks;
}

function encodeTasks(tasks: ReadonlyMap<number, UpstreamMark>): string {
  const finite = [...tasks.values()].map(({ watermark }) => watermark).filter(Number.isFinite);
  const base = finite.length === 0 ? 0 : Math.floor(Math.min(...finite));
  const entries = Array.from({ length: Math.max(...tasks.keys()) + 1 }, (_, partition) => {
    const mark = tasks.get(partition);
    if (mark === undefined) return '';
    return `${mark.idle ? '!' : ''}${encodeWatermark(mark.watermark, base)}`;
  });
  return `${base.toString(36)}:${entries.join(',')}`;
}

/** A watermark with a fraction is told as the millisecond below it: too low is safe. */
function encodeWatermark(watermark: number, base: number): string {
  if (watermark === Infinity) return '*';
  return watermark === -Infinity ? '-' : (Math.floor(watermark) - base).toString(36);
}

function decodeWatermark(text: string, base: number): number {
  if (text === '*') return Infinity;
  return text === '-' ? -Infinity : base + parseInt(text, 36);
}
