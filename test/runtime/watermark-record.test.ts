import { describe, expect, it } from '@jest/globals';
import { announceWatermarks, type WatermarkAnnouncement } from '../../src/runtime/watermark-announcement.js';
import { readWatermarks, watermarkHeader, watermarkHeaders } from '../../src/runtime/watermark-record.js';
import { RecordBatchBuilder } from '../../src/kafka/record-batch/record-batch-builder.js';
import { RecordCursor } from '../../src/kafka/record-batch/record-cursor.js';

describe('a watermark record', () => {
  it('is read as it was written', () => {
    const marks = new Map([
      ['0_0', { watermark: 1_764_000_000_000, idle: false }],
      ['0_1', { watermark: -Infinity, idle: true }],
      ['1_0', { watermark: Infinity, idle: false }],
    ]);
    expect(readWatermarks(watermarkHeaders(marks))).toEqual(marks);
    expect(String(watermarkHeaders(marks)[0]?.value)).toBe('[["0_0",1764000000000],["0_1",null,"idle"],["1_0","end"]]');
  });

  it('is told from data by its header alone', () => {
    expect(readWatermarks([])).toBeNull();
    expect(readWatermarks([{ key: 'trace', value: Buffer.from('x') }])).toBeNull();
  });

  it.each(['', 'not JSON', '{}', '[1,["0_0"],["0_0","?"],[2,3]]'])(
    'of another version, %j, tells nothing and is no data either',
    (text) => {
      expect(readWatermarks([{ key: watermarkHeader, value: Buffer.from(text) }])).toEqual(new Map());
    },
  );
});

describe('the watermarks of a thread', () => {
  const announcement = (task: string, watermark: number, topics = ['app-r']): WatermarkAnnouncement => ({
    task,
    targets: topics.map((topic) => ({ topic, partitions: 2 })),
    mark: { watermark, idle: false },
    streamTime: watermark + 10,
  });

  function written(announcements: readonly (WatermarkAnnouncement | null)[]): string[] {
    const builders = new Map<string, RecordBatchBuilder>();
    announceWatermarks(
      announcements.map((told) => ({ announcement: () => told })),
      {
        builder: (topic, partition) => {
          const name = `${topic}-${partition}`;
          const builder = builders.get(name) ?? new RecordBatchBuilder({ maxBatchBytes: 10_000 });
          builders.set(name, builder);
          return builder;
        },
      },
    );
    return [...builders].flatMap(([name, builder]) => {
      const taken = builder.take();
      taken?.stamp(null, -1);
      const cursor = new RecordCursor();
      const records = Buffer.concat(taken?.batches.map(({ buffer }) => buffer) ?? []);
      cursor.open(records, { topic: name, partition: 0, fetchOffset: 0, isolation: 'read_uncommitted', abortedTransactions: [] });
      const lines: string[] = [];
      while (cursor.next()) {
        const marks = [...(readWatermarks(cursor.headers()) ?? [])].map(([task, { watermark }]) => `${task}=${watermark}`);
        lines.push(`${name}@${cursor.timestamp} ${cursor.keyStart < 0 && cursor.valueStart < 0 ? marks.join(' ') : 'data'}`);
      }
      return lines;
    });
  }

  it('are one record a partition, however many tasks it has', () => {
    expect(written([announcement('0_0', 100), announcement('0_1', 50)])).toEqual([
      'app-r-0@60 0_0=100 0_1=50',
      'app-r-1@60 0_0=100 0_1=50',
    ]);
  });

  it('go to each topic that the task writes, and nowhere when nobody has something new', () => {
    expect(written([announcement('0_0', 100, ['app-r', 'app-s']), null])).toHaveLength(4);
    expect(written([null, null])).toEqual([]);
  });

  it('never have a time before the epoch, which a broker refuses', () => {
    expect(written([announcement('0_0', -500)])).toEqual(['app-r-0@0 0_0=-500', 'app-r-1@0 0_0=-500']);
  });
});
