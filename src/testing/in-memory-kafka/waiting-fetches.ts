/** Fetches: answered at once when there is enough to give, else parked until there is or their time is up. */
import { ErrorCodes as E } from '../../kafka/error-codes.js';
import type { FetchedPartition, FetchPartition, FetchRequest, FetchResponse, TopicPartition } from '../../kafka/port.js';
import type { PartitionLog } from './partition-log.js';
import type { SimulationClock } from './simulation-clock.js';

/** A log that this broker serves, or why it does not. */
export type ServedLog = PartitionLog | number;

interface WaitingFetch {
  readonly broker: number;
  readonly partitions: readonly FetchPartition[];
  readonly look: () => void;
}

const NO_BYTES = Buffer.alloc(0);

export class WaitingFetches {
  private readonly waiting = new Set<WaitingFetch>();

  constructor(private readonly clock: SimulationClock) {}

  fetch(
    broker: number,
    request: FetchRequest,
    served: (partition: FetchPartition) => ServedLog,
    reply: (answer: FetchResponse) => void,
  ): void {
    if (request.maxWaitMs <= 0 || isReady(request, served)) {
      reply(answerTo(request, served));
      return;
    }
    const finish = (): void => {
      cancel();
      this.waiting.delete(entry);
      reply(answerTo(request, served));
    };
    const cancel = this.clock.setTimer(finish, request.maxWaitMs);
    const entry: WaitingFetch = {
      broker,
      partitions: request.partitions,
      look: () => {
        if (isReady(request, served)) finish();
      },
    };
    this.waiting.add(entry);
  }

  /** Something changed in a log. */
  changed(partition: TopicPartition): void {
    if (this.waiting.size === 0) return;
    for (const entry of [...this.waiting]) if (this.waiting.has(entry) && waitsFor(entry, partition)) entry.look();
  }

  /** The broker went down: nobody is answered. */
  clear(broker: number): void {
    for (const entry of this.waiting) if (entry.broker === broker) this.waiting.delete(entry);
  }
}

/** Enough bytes, or an error, which is told at once. */
function isReady({ partitions, isolation, minBytes }: FetchRequest, served: (partition: FetchPartition) => ServedLog): boolean {
  let bytes = 0;
  for (const partition of partitions) {
    const log = served(partition);
    if (typeof log === 'number' || isOutOfRange(log, partition.offset)) return true;
    bytes += log.available(partition.offset, isolation, partition.maxBytes);
  }
  return bytes >= minBytes;
}

function answerTo(request: FetchRequest, served: (partition: FetchPartition) => ServedLog): FetchResponse {
  let room = request.maxBytes;
  const partitions = request.partitions.map((wanted): FetchedPartition => {
    const { topic, partition, offset, maxBytes } = wanted;
    const log = served(wanted);
    if (typeof log === 'number') return failed(topic, partition, log);
    if (isOutOfRange(log, offset)) return failed(topic, partition, E.OFFSET_OUT_OF_RANGE);
    const slice = log.read(offset, request.isolation, Math.min(room, maxBytes), room === request.maxBytes);
    room = Math.max(0, room - slice.records.length);
    return {
      topic,
      partition,
      errorCode: E.NONE,
      highWatermark: log.endOffset,
      lastStableOffset: log.lastStableOffset,
      logStartOffset: log.logStartOffset,
      ...slice,
    };
  });
  return { errorCode: E.NONE, throttleMs: 0, partitions };
}

function failed(topic: string, partition: number, errorCode: number): FetchedPartition {
  const unknown = { highWatermark: -1, lastStableOffset: -1, logStartOffset: -1 };
  return { topic, partition, errorCode, ...unknown, abortedTransactions: [], records: NO_BYTES };
}

function isOutOfRange(log: PartitionLog, offset: number): boolean {
  return offset < log.logStartOffset || offset > log.endOffset;
}

function waitsFor({ partitions }: WaitingFetch, { topic, partition }: TopicPartition): boolean {
  return partitions.some((one) => one.partition === partition && one.topic === topic);
}
