/**
 * Keeps fetches on their way to every broker that leads an assigned partition and hands over what they bring, chunk by chunk.
 *
 * Invariants: a partition is in at most one pending fetch; its position moves only with the answer to that very fetch, from whole batch to whole
 * batch, so chunks of a partition come in the order of the log without gap or repetition; an answer to a position that was left in the meantime
 * (unassigned, sought, assigned anew) is dropped. A position belongs to one topic, known by its id: another topic of the same name is never read from it. The next fetch is sent before the chunks of the last are handed over. Nothing fails silently:
 * retries are logged, what no retry mends is reported, and a watchdog counts partitions that stay without an answer. One fetcher
 * belongs to one stream thread (or restore); everything runs on its event loop.
 */
import { MillraceError } from '../../errors.js';
import { backoffMs } from '../backoff.js';
import { ErrorCodes, errorName, errorTreatment, isAuthorizationError } from '../error-codes.js';
import { isInRange, offsetAt } from '../offset-at.js';
import type { FetchedPartition, FetchResponse, KafkaPort, TopicPartition } from '../port.js';
import type { LaneName, PendingFetch } from './broker-lanes.js';
import { BrokerLanes, QUICK_WAIT_MS } from './broker-lanes.js';
import { ByteBudget } from './byte-budget.js';
import type { FetchedChunk } from './fetched-chunk.js';
import type { FetcherClock, FetcherMetrics, FetcherOptions } from './fetcher-options.js';
import { systemClock } from './fetcher-options.js';
import { Leaders } from './leaders.js';
import { MissingTopics } from './missing-topics.js';
import { partitionKey, PartitionState } from './partition-state.js';
import { StallWatchdog } from './stall-watchdog.js';
import { wholeBatches } from './whole-batches.js';

const BACKOFF = { initialMs: 20, maxMs: 1000 };
const MIB = 1024 * 1024;
const DEFAULT_MAX_WAIT_MS = 500;
/** An answer may be late by so much before what it said counts as old. */
const LATE_ANSWER_MS = 1000;

type FetchPort = Pick<KafkaPort, 'fetch' | 'metadata' | 'listOffsets'>;

export class Fetcher {
  readonly metrics: FetcherMetrics = { bufferedBytes: 0, requests: 0, bytes: 0, failures: 0, resets: 0, stalls: 0 };
  private readonly partitions = new Map<string, PartitionState>();
  private readonly lanes = new Map<number, BrokerLanes>();
  private readonly leaders: Leaders;
  private readonly missing: MissingTopics;
  private readonly clock: FetcherClock;
  private readonly random: () => number;
  private readonly maxBytesPerPartition: number;
  private readonly budget: ByteBudget;
  private readonly watchdog: StallWatchdog;
  private running = false;
  private pumpQueued = false;
  private wakeTimer: unknown = null;

  constructor(
    private readonly port: FetchPort,
    private readonly options: FetcherOptions,
  ) {
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.maxBytesPerPartition = options.maxBytesPerPartition ?? MIB;
    this.budget = new ByteBudget(
      options.maxBufferedBytes ?? (() => 64 * MIB),
      options.maxBytesPerFetch ?? 50 * MIB,
      this.maxBytesPerPartition,
    );
    this.watchdog = new StallWatchdog({
      clock: this.clock,
      stallWarningMs: options.stallWarningMs ?? 30_000,
      metrics: this.metrics,
      logger: options.logger,
      partitions: () => this.partitions.values(),
      isWaitedFor: (state) => !this.budget.isFull && (state.resetting !== null || this.wants(state)),
    });
    this.missing = new MissingTopics(options.logger, () => this.clock.now());
    this.leaders = new Leaders(port, {
      logger: options.logger,
      now: () => this.clock.now(),
      random: this.random,
      onTopicId: (topic, topicId) => this.identify(topic, topicId),
      onMissing: (partition, errorCode) => this.missing.seen(partition, errorCode),
      onChange: () => this.queuePump(),
      onForbidden: (topic, errorCode) => this.failTopic(topic, errorCode),
      onFatal: (error) => options.onError(error, null),
    });
  }

  start(): void {
    if (this.running) return;
    this.running = true;
    this.watchdog.start();
    this.queuePump();
  }

  /** Sends nothing more and drops the answers that are still to come. Positions stay: `start` goes on from them. */
  async stop(): Promise<void> {
    this.running = false;
    this.clock.clearTimeout(this.wakeTimer);
    this.watchdog.stop();
    for (const state of this.partitions.values()) state.pending = null;
    this.lanes.clear();
    this.budget.unreserveAll();
  }

  /**
   * Fetches the partition from `offset` on. Whatever an earlier assignment has under way or buffered is forgotten.
   *
   * @param topicId of the topic that `offset` was reached in; null: the one that has the name now
   */
  assign(partition: TopicPartition, offset: number, topicId: string | null = null): void {
    this.unassign(partition);
    const { topic, partition: index } = partition;
    const state = new PartitionState(topic, index, offset, this.maxBytesPerPartition, this.clock.now(), topicId);
    this.partitions.set(partitionKey(partition), state);
    this.queuePump();
  }

  unassign(partition: TopicPartition): void {
    const state = this.partitions.get(partitionKey(partition));
    if (state === undefined) return;
    this.release(state, state.buffered);
    this.partitions.delete(partitionKey(partition));
    this.missing.found(partition.topic);
    this.leaders.forget(partition);
    this.queuePump();
  }

  /** No further fetch asks for the partition; one that is under way is still handed over. */
  pause(partition: TopicPartition): void {
    const state = this.partitions.get(partitionKey(partition));
    if (state !== undefined) state.paused = true;
  }

  resume(partition: TopicPartition): void {
    const state = this.partitions.get(partitionKey(partition));
    if (state?.paused !== true) return;
    state.paused = false;
    state.lastAnswerAt = this.clock.now();
    this.queuePump();
  }

  /** Goes on at `offset`. What was handed over before counts as given back. */
  seek(partition: TopicPartition, offset: number): void {
    const state = this.partitions.get(partitionKey(partition));
    if (state === undefined) return;
    this.release(state, state.buffered);
    state.moveTo(offset, this.clock.now());
    this.queuePump();
  }

  /** Gives back room for bytes handed over (a chunk's `byteLength`, at once or in parts). Unknown partitions are ignored. */
  consumed(bytes: number, partition: TopicPartition): void {
    const state = this.partitions.get(partitionKey(partition));
    if (state === undefined) return;
    this.release(state, Math.min(bytes, state.buffered));
    this.queuePump();
  }

  /** As of the last answer; -1 before the first. */
  highWatermark(partition: TopicPartition): number {
    return this.partitions.get(partitionKey(partition))?.highWatermark ?? -1;
  }

  /** As of the last answer; -1 before the first. */
  lastStableOffset(partition: TopicPartition): number {
    return this.partitions.get(partitionKey(partition))?.lastStableOffset ?? -1;
  }

  /** The offset that the next fetch asks for; -1 when the partition is not assigned. */
  position(partition: TopicPartition): number {
    return this.partitions.get(partitionKey(partition))?.offset ?? -1;
  }

  /**
   * Whether everything in the log was handed over, open transactions included, and the broker has said so just now: not so while the partition is paused, waits
   * for room, or its broker does not answer.
   */
  isAtEnd(partition: TopicPartition): boolean {
    const state = this.partitions.get(partitionKey(partition));
    if (state === undefined || state.highWatermark < 0 || state.offset < state.highWatermark || !this.wants(state)) return false;
    return this.clock.now() - state.lastAnswerAt <= 2 * (this.options.maxWaitMs ?? DEFAULT_MAX_WAIT_MS) + LATE_ANSWER_MS;
  }

  private release(state: PartitionState, bytes: number): void {
    state.buffered -= bytes;
    this.metrics.bufferedBytes -= bytes;
    this.budget.release(bytes);
  }

  /** Two fetches' worth: one that is being read, one that is waiting. */
  private wants(state: PartitionState): boolean {
    return state.wants(this.maxBytesPerPartition * 2);
  }

  /** Changes of one turn (a hundred assigns, say) make one request. */
  private queuePump(): void {
    if (!this.running || this.pumpQueued) return;
    this.pumpQueued = true;
    queueMicrotask(() => {
      this.pumpQueued = false;
      this.pump();
    });
  }

  /** Sends what can be sent now, and sees to it that it is called again when there may be more. */
  private pump(): void {
    if (!this.running) return;
    const now = this.clock.now();
    let wakeAt = Infinity;
    const missing: PartitionState[] = [];
    const byLeader = new Map<number, PartitionState[]>();
    for (const [key, state] of this.partitions) {
      if (state.pending !== null || !this.wants(state)) continue;
      if (state.retryAt > now) {
        wakeAt = Math.min(wakeAt, state.retryAt);
        continue;
      }
      const leader = this.leaders.leaderOf(key);
      if (leader === undefined) missing.push(state);
      else {
        const states = byLeader.get(leader);
        if (states === undefined) byLeader.set(leader, [state]);
        else states.push(state);
      }
    }
    for (const [leader, states] of byLeader) {
      const lanes = this.lanesOf(leader);
      const next = lanes.next(now);
      if (typeof next === 'string') this.send(leader, lanes, next, states, now);
      else if (next !== null) wakeAt = Math.min(wakeAt, next);
    }
    if (missing.length > 0) wakeAt = Math.min(wakeAt, this.leaders.find(missing) ?? Infinity);
    this.wakeUpAt(wakeAt, now);
  }

  private send(broker: number, lanes: BrokerLanes, lane: LaneName, states: readonly PartitionState[], now: number): void {
    let wanted = 0;
    for (const state of states) wanted += state.maxBytes;
    const maxBytes = this.budget.reserve(wanted, this.lanes.size);
    if (maxBytes === 0) return;
    const pending: PendingFetch = { lane, sentAt: now, partitions: states, reserved: maxBytes };
    lanes[lane] = pending;
    const asked = states.map((state) => {
      state.pending = pending;
      const { topic, partition, topicId, offset } = state;
      return { topic, partition, topicId, offset, maxBytes: state.maxBytes };
    });
    this.metrics.requests++;
    const { isolation, minBytes = 1, maxWaitMs = DEFAULT_MAX_WAIT_MS } = this.options;
    const request = {
      isolation,
      minBytes,
      maxBytes,
      maxWaitMs: lane === 'main' ? maxWaitMs : Math.min(QUICK_WAIT_MS, maxWaitMs),
      partitions: asked,
    };
    this.port.fetch(broker, request).then(
      (response) => {
        if (this.take(broker, pending)) this.receive(broker, pending, response, asked);
      },
      (error: unknown) => {
        if (this.take(broker, pending)) this.failed(broker, pending, error);
      },
    );
  }

  private take(broker: number, pending: PendingFetch): boolean {
    if (this.lanes.get(broker)?.take(pending) !== true) return false;
    this.budget.unreserve(pending.reserved);
    return true;
  }

  private receive(broker: number, pending: PendingFetch, response: FetchResponse, asked: readonly { readonly offset: number }[]): void {
    const now = this.clock.now();
    if (response.throttleMs > 0) this.lanesOf(broker).throttledUntil = now + response.throttleMs;
    if (response.errorCode !== ErrorCodes.NONE) {
      this.failed(
        broker,
        pending,
        new MillraceError('MILL_BROKER_ERROR', `Fetch from broker ${broker}: ${errorName(response.errorCode)}.`),
      );
      return;
    }
    const answers = new Map(response.partitions.map((answer) => [partitionKey(answer), answer]));
    const chunks: FetchedChunk[] = [];
    pending.partitions.forEach((state, index) => {
      if (state.pending !== pending || this.partitions.get(partitionKey(state)) !== state) return;
      state.pending = null;
      const answer = answers.get(partitionKey(state));
      if (answer === undefined || state.offset !== asked[index]?.offset) return;
      if (answer.errorCode !== ErrorCodes.NONE) this.refused(state, answer, now);
      else this.accept(state, answer, now, chunks);
    });
    this.pump();
    for (const chunk of chunks) this.options.onData(chunk);
  }

  private accept(state: PartitionState, answer: FetchedPartition, now: number, chunks: FetchedChunk[]): void {
    state.failures = 0;
    state.isDoubted = false;
    this.missing.found(state.topic);
    state.lastAnswerAt = now;
    state.highWatermark = answer.highWatermark;
    state.lastStableOffset = answer.lastStableOffset;
    if (answer.records.length === 0) return;
    const { length, nextOffset, cutBatchBytes, malformed } = wholeBatches(answer.records, state.offset);
    if (length === 0) {
      const where = `${state.topic}-${state.partition} at offset ${state.offset}`;
      if (malformed) this.giveUp(state, new MillraceError('MILL_CORRUPT_BATCH', `The record batch of ${where} has an impossible length.`));
      else if (cutBatchBytes > state.maxBytes) state.maxBytes = cutBatchBytes;
      else this.retryLater(state, now);
      return;
    }
    chunks.push({
      topic: state.topic,
      partition: state.partition,
      topicId: state.topicId,
      fetchOffset: state.offset,
      nextOffset,
      records: length === answer.records.length ? answer.records : answer.records.subarray(0, length),
      abortedTransactions: answer.abortedTransactions,
      highWatermark: answer.highWatermark,
      lastStableOffset: answer.lastStableOffset,
      logStartOffset: answer.logStartOffset,
      byteLength: length,
    });
    state.offset = nextOffset;
    state.maxBytes = this.maxBytesPerPartition;
    state.buffered += length;
    this.budget.buffer(length);
    this.metrics.bufferedBytes += length;
    this.metrics.bytes += length;
    // The broker serves partitions in the order of the request: who got something goes behind the others.
    this.partitions.delete(partitionKey(state));
    this.partitions.set(partitionKey(state), state);
  }

  private refused(state: PartitionState, answer: FetchedPartition, now: number): void {
    const { errorCode } = answer;
    const where = `${state.topic}-${state.partition}`;
    this.metrics.failures++;
    if (errorCode === ErrorCodes.OFFSET_OUT_OF_RANGE) {
      void this.resetIfOutOfRange(state);
    } else if (isAuthorizationError(errorCode)) {
      this.giveUp(state, forbidden(state.topic, errorCode));
    } else if (errorTreatment(errorCode) === 'retry' || errorCode < 0) {
      this.retryLater(state, now);
      this.leaders.doubt(state);
      if (topicIsGone.has(errorCode)) {
        state.isDoubted = true;
        this.missing.seen(state, errorCode);
      } else {
        this.options.logger.info(
          { ...topicPartition(state), error: errorName(errorCode), attempt: state.failures },
          `fetch of ${where} is tried again`,
        );
      }
    } else {
      const said = `Fetching ${where} at offset ${state.offset} failed with ${errorName(errorCode)} (${errorCode}).`;
      this.giveUp(
        state,
        new MillraceError('MILL_BROKER_ERROR', said, { details: { ...topicPartition(state), brokerErrorCode: errorCode } }),
      );
    }
  }

  private failed(broker: number, pending: PendingFetch, error: unknown): void {
    const now = this.clock.now();
    this.metrics.failures++;
    const affected = pending.partitions.filter((state) => state.pending === pending);
    const fatal =
      error instanceof MillraceError && (error.code === 'MILL_BROKER_TOO_OLD' || error.code === 'MILL_AUTHORIZATION') ? error : null;
    for (const state of affected) {
      state.pending = null;
      if (fatal !== null) state.failed = true;
      this.retryLater(state, now);
      this.leaders.doubt(state);
    }
    if (fatal !== null) this.options.onError(fatal, null);
    else if (affected.length > 0)
      this.options.logger.info({ broker, err: error, partitions: affected.length }, 'a fetch failed and is tried again');
    this.pump();
  }

  /** A topic's id as just read. */
  private identify(topic: string, topicId: string): void {
    for (const state of this.partitions.values()) {
      if (state.topic !== topic) continue;
      if (state.topicId === null) state.topicId = topicId;
      else if (state.topicId !== topicId && state.isDoubted && !state.failed && state.resetting === null)
        void this.reset(state, recreated(topicId));
    }
  }

  /** Any replica serves a fetch (KIP-392), and one that lags knows no more than its own part: only the leader tells whether the position is out of range. */
  private async resetIfOutOfRange(state: PartitionState): Promise<void> {
    const lookUp = {};
    state.resetting = lookUp;
    const inRange = await isInRange(this.port, topicPartition(state), state.offset);
    if (state.resetting !== lookUp || this.partitions.get(partitionKey(state)) !== state) return;
    state.resetting = null;
    if (inRange === false) {
      await this.reset(state, outOfRange);
      return;
    }
    this.retryLater(state, this.clock.now());
    this.leaders.doubt(state);
    this.queuePump();
  }

  /** The position is worth nothing: goes on by policy. Until the look-up has succeeded the old position and topic id stand. */
  private async reset(state: PartitionState, { code, why, topicId }: LostPosition): Promise<void> {
    const tp = topicPartition(state);
    const where = `${state.topic}-${state.partition}`;
    const policy = this.options.autoOffsetReset(tp);
    const lost = state.offset;
    const details = { ...tp, offset: lost, ...(topicId === null ? {} : { topicId: state.topicId, newTopicId: topicId }) };
    if (policy === 'none') {
      this.giveUp(state, new MillraceError(code, `Offset ${lost} of ${where} ${why}, and there is no reset policy.`, { details }));
      return;
    }
    const named = typeof policy === 'number' ? `first since ${policy}` : policy;
    const lookUp = {};
    state.resetting = lookUp;
    let offset = -1;
    try {
      const answer = await offsetAt(this.port, tp, policy, this.options.isolation);
      if (answer?.errorCode === ErrorCodes.NONE) offset = answer.offset;
    } catch (error) {
      this.options.logger.info({ ...tp, err: error }, `the ${named} offset of ${where} could not be read`);
    }
    if (state.resetting !== lookUp || this.partitions.get(partitionKey(state)) !== state) return;
    state.resetting = null;
    if (offset < 0) this.retryLater(state, this.clock.now());
    else {
      this.metrics.resets++;
      this.options.logger.warn(
        { ...details, offset, lost, policy },
        `offset ${lost} of ${where} ${why}: reading on at ${named} offset ${offset}`,
      );
      state.moveTo(offset, this.clock.now());
      state.topicId = topicId ?? state.topicId;
      this.options.onData(state.newPosition());
    }
    this.queuePump();
  }

  private retryLater(state: PartitionState, now: number): void {
    state.failures++;
    state.retryAt = now + backoffMs(state.failures, BACKOFF, this.random);
  }

  private giveUp(state: PartitionState, error: MillraceError): void {
    state.failed = true;
    this.options.onError(error, topicPartition(state));
  }

  private failTopic(topic: string, errorCode: number): void {
    for (const state of this.partitions.values())
      if (state.topic === topic && !state.failed) this.giveUp(state, forbidden(topic, errorCode));
  }

  private lanesOf(broker: number): BrokerLanes {
    let lanes = this.lanes.get(broker);
    if (lanes === undefined) this.lanes.set(broker, (lanes = new BrokerLanes()));
    return lanes;
  }

  private wakeUpAt(at: number, now: number): void {
    this.clock.clearTimeout(this.wakeTimer);
    this.wakeTimer = at === Infinity ? null : this.clock.setTimeout(() => this.pump(), Math.max(0, Math.ceil(at - now)));
  }
}

/** Why a position is worth nothing any more. */
interface LostPosition {
  readonly code: 'MILL_OFFSET_OUT_OF_RANGE' | 'MILL_TOPIC_RECREATED';
  readonly why: string;
  /** Of the topic that has the name now; null when it is still the same. */
  readonly topicId: string | null;
}

const outOfRange: LostPosition = { code: 'MILL_OFFSET_OUT_OF_RANGE', why: 'is out of range', topicId: null };

function recreated(topicId: string): LostPosition {
  return { code: 'MILL_TOPIC_RECREATED', why: 'is of a topic that was deleted and created again', topicId };
}

/** Answers of a broker that does not have the topic, or has another one of the name. */
const topicIsGone: ReadonlySet<number> = new Set([
  ErrorCodes.UNKNOWN_TOPIC_OR_PARTITION,
  ErrorCodes.UNKNOWN_TOPIC_ID,
  ErrorCodes.INCONSISTENT_TOPIC_ID,
]);

function topicPartition({ topic, partition }: TopicPartition): TopicPartition {
  return { topic, partition };
}

function forbidden(topic: string, errorCode: number): MillraceError {
  return new MillraceError('MILL_AUTHORIZATION', `Not allowed: reading topic ${topic} (${errorName(errorCode)}).`, {
    details: { topic, brokerErrorCode: errorCode },
  });
}
