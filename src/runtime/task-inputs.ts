import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import { RecordQueue } from './record-queue.js';
import type { SourceReader } from './source-reader.js';
import type { TaskInput, TaskOptions } from './task-options.js';

/** What an input meets that is no record to process, for the task. */
export interface TaskInputsListener {
  /** A record was dropped before it was handed out: that belongs to the epoch in work. */
  onHeadDropped(): void;
  /** The position was set anew: as above. */
  onPositionReset(): void;
  /** True when the record at the cursor is a watermark of upstream tasks: then they are heard. */
  isWatermark(queue: RecordQueue): boolean;
}

/** The input partitions of one task: a queue each, in the order of `TaskOptions.inputs`. */
export class TaskInputs {
  readonly queues: readonly RecordQueue[];
  private readonly byPartition = new Map<string, RecordQueue>();

  constructor(
    private readonly options: TaskOptions,
    sources: ReadonlyMap<string, SourceReader>,
    private readonly listener: TaskInputsListener,
  ) {
    this.queues = options.inputs.map((input) => this.makeQueue(input, sources.get(input.sourceNode) as SourceReader));
    for (const queue of this.queues) this.byPartition.set(`${queue.topic}-${queue.partition}`, queue);
  }

  reads(topic: string, partition: number): boolean {
    return this.byPartition.has(`${topic}-${partition}`);
  }

  /** The room of a chunk that nobody here reads is given back. */
  add(chunk: FetchedChunk): void {
    const queue = this.byPartition.get(`${chunk.topic}-${chunk.partition}`);
    if (queue === undefined) {
      this.options.released(chunk.topic, chunk.partition, chunk.byteLength);
      return;
    }
    queue.add(chunk);
  }

  /** Puts every queue on its head record. A promise when one has to be awaited first, and then the others are still to come. */
  fillHeads(): Promise<void> | null {
    for (let i = 0; i < this.queues.length; i++) {
      const queue = this.queues[i] as RecordQueue;
      if (queue.hasHead || queue.isEmpty) continue;
      const advanced = queue.advance();
      if (typeof advanced !== 'boolean') return advanced.then(() => undefined);
    }
    return null;
  }

  /** Gives the buffered memory back. */
  clear(): void {
    for (const queue of this.queues) queue.clear();
  }

  private makeQueue(input: TaskInput, source: SourceReader): RecordQueue {
    const { topic, partition } = input;
    const { id, env, released, inputEnded } = this.options;
    const observer = {
      headDropped: () => {
        this.listener.onHeadDropped();
      },
      endReached: () => {
        inputEnded?.(topic, partition);
      },
      isWatermark: (queue: RecordQueue) => this.listener.isWatermark(queue),
      positionReset: (from: number, to: number) => {
        this.listener.onPositionReset();
        env.metrics.positionResets++;
        env.logger.warn({ taskId: id, topic, partition, from, to }, `position ${from} of ${topic}-${partition} is gone: going on at ${to}`);
      },
    };
    const isInternal = source.node.topics.some(({ internal }) => internal);
    return new RecordQueue(topic, partition, source, env.isolation, input, released, observer, isInternal);
  }
}
