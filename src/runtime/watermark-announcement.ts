/**
 * Step 2 of a barrier, after every operator has emitted what it held back: tasks tell the tasks downstream how far event time is.
 *
 * What is written here stands behind all data of the epoch in each partition and is committed with it, so whoever reads it has read everything before it. One
 * record an epoch and partition for all tasks of the thread, and only when one of them has something new to tell.
 */
import type { UpstreamMark } from '../time/watermarks/source-watermarks.js';
import type { RepartitionTarget } from '../topology/task-layout.js';
import type { OutputCollector } from './task-environment.js';
import { watermarkHeaders } from './watermark-record.js';

export interface WatermarkAnnouncement {
  readonly task: string;
  readonly targets: readonly RepartitionTarget[];
  readonly mark: UpstreamMark;
  /** Highest timestamp that the task has taken, -1 before the first. */
  readonly streamTime: number;
}

/** A task, as far as it is asked here. */
export interface AnnouncingTask {
  /** What the task has to tell, once; null when it has told that already. */
  announcement(): WatermarkAnnouncement | null;
}

export function announceWatermarks(tasks: Iterable<AnnouncingTask>, output: Pick<OutputCollector, 'builder'>): void {
  const byTopic = new Map<string, { readonly partitions: number; readonly announcements: WatermarkAnnouncement[] }>();
  for (const task of tasks) {
    const announcement = task.announcement();
    for (const { topic, partitions } of announcement?.targets ?? []) {
      const known = byTopic.get(topic) ?? { partitions, announcements: [] };
      byTopic.set(topic, known);
      if (announcement !== null) known.announcements.push(announcement);
    }
  }
  for (const [topic, { partitions, announcements }] of byTopic) {
    const headers = watermarkHeaders(new Map(announcements.map(({ task, mark }) => [task, mark])));
    const timestamp = announcements.reduce((lowest, { streamTime }) => Math.min(lowest, streamTime), Infinity);
    for (let partition = 0; partition < partitions; partition++)
      output.builder(topic, partition).appendRaw(Math.max(0, timestamp), null, 0, 0, null, 0, 0, headers);
  }
}
