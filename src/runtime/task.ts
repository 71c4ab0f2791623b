import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { MillraceError } from '../errors.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import type { Cancellable, ScheduleOptions } from '../processors/operator.js';
import type { StateStore } from '../stores/store.js';
import type { UpstreamMark } from '../time/watermarks/source-watermarks.js';
import type { TakenRecord } from '../processors/taken-record.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import type { TaskScope } from './node-context.js';
import { PartitionGroup } from './partition-group.js';
import { closeOperators, type Closing } from './close-operators.js';
import { connectedStore } from './connected-store.js';
import { OperatorFlush } from './operator-flush.js';
import type { RecordQueue } from './record-queue.js';
import type { TaskEnvironment } from './task-environment.js';
import { TaskEnding } from './task-ending.js';
import { TaskEventTime } from './task-event-time.js';
import { TaskInputs } from './task-inputs.js';
import { TaskIntake } from './task-intake.js';
import type { TaskOptions, TaskPosition } from './task-options.js';
import { takenRecord } from './taken-records.js';
import { TaskRecord } from './task-record.js';
import { TaskTimers } from './task-timers.js';
import { stageOf, timeStages, type TimeStage } from './time-stages.js';
import { UnfinishedRecords } from './unfinished-records.js';
import { wireTask, type WiredTask } from './task-wiring.js';
import type { WatermarkAnnouncement } from './watermark-announcement.js';
import type { TaskWatermark } from './watermark-explanation.js';
import { readWatermarks } from './watermark-record.js';

const nothingTold: ReadonlyMap<string, UpstreamMark> = new Map();

/**
 * One sub-topology × one partition at work: takes records in the order of `PartitionGroup`, runs each through the wired operators, keeps time, fires
 * punctuations. It knows nothing of epochs: the owner stops it at a record boundary, calls `flush`, and reads `positions`.
 *
 * Invariants: one record at a time: while a user function's promise is pending the task is `busy` and takes nothing else. Calls of asynchronous operators go on
 * beside it; their results are sent on between two records. After a failure nothing of the task may be committed: `run`, `settled` and `flush` throw it. After
 * `close` whatever is still pending goes nowhere.
 */
export class Task implements TaskScope {
  readonly id: string;
  readonly partition: number;
  readonly env: TaskEnvironment;
  readonly record = new TaskRecord();
  readonly queues: readonly RecordQueue[];
  /** True once anything was processed or fired since the last `endEpoch`, and at first when a beginning has to be kept. */
  dirty = false;
  readonly intake: TaskIntake;

  private readonly inputs: TaskInputs;
  private readonly group: PartitionGroup;
  private readonly flushing: OperatorFlush;
  private readonly wired: WiredTask;
  /** False: no further record is taken; what is unfinished may still end. */
  takesInput = true;
  private readonly stages: readonly TimeStage[];
  private readonly ending: TaskEnding;
  /** Of asynchronous operators; null when there are none. */
  private readonly unfinished: UnfinishedRecords | null;
  /** Stream time before the record in work. */
  private streamTimeBefore = -1;
  private readonly timers: TaskTimers;
  private readonly clock: () => number;
  /** What operators have opened beside themselves. */
  private readonly beside: Closing[] = [];
  private busy: Promise<void> | null = null;
  /** When the wait of a busy task began, ms of the wall clock. */
  busySince = 0;
  private failure: Error | null = null;
  private readonly eventTime: TaskEventTime | null;
  /** Of the slice in work, ms of `performance.now()`. */
  private deadline = Infinity;
  private isClosed = false;
  /** Records dropped at the head, and positions set anew, since `run` last counted them. */
  private headNews = 0;

  constructor(private readonly options: TaskOptions) {
    this.id = options.id;
    this.partition = options.partition;
    this.env = options.env;
    this.ending = new TaskEnding(options.topology, options.inputs);
    this.clock = this.env.steadyClock ?? (() => this.env.wallClock());
    this.intake = new TaskIntake(this.clock, () => this.env.wallClock());
    this.wired = wireTask(options.topology, options.subTopology, this, options.topicOf);
    this.stages = timeStages(options.topology, this.wired.operators);
    this.timers = new TaskTimers(this.wired, this.stages, this.record, this.ending, this.env);
    this.unfinished = UnfinishedRecords.of(this.wired);
    this.inputs = new TaskInputs(options, this.wired.sources, {
      onHeadDropped: () => {
        this.env.metrics.recordsProcessed++;
        this.intake.dropped();
        this.noteHeadNews();
      },
      onPositionReset: () => this.noteHeadNews(),
      isWatermark: (queue) => this.hear(queue),
    });
    this.queues = this.inputs.queues;
    this.group = new PartitionGroup(this.queues, options.lags, this.env.maxTaskIdleMs);
    this.flushing = new OperatorFlush(this.wired.operators, this.record, this.group, this.ending);
    this.eventTime = TaskEventTime.of(this.queues, this.stages, this.record, options.lags, options.watermarks.alignment, {
      watermark: options.inputs.reduce((highest, { watermark = -Infinity }) => Math.max(highest, watermark), -Infinity),
      inputs: options.inputs.map(({ senders = [], marks = nothingTold }) => ({ senders, marks })),
      targets: options.watermarks.targets,
      repeatEvery: options.watermarks.repeatEvery,
      now: this.clock(),
    });
    this.wired.init();
    this.eventTime?.start();
    this.streamTimeBefore = this.group.streamTime;
    if (options.inputs.some(({ isPassing }) => isPassing === true)) this.dirty = true;
  }

  /** What was done at the end of its inputs; null before, and again when a record comes after all. */
  get ended(): InputEnd | null {
    return this.ending.reached;
  }

  /** In batch mode, until final results are told. */
  get holdsResults(): boolean {
    return this.ended !== 'final' && this.wired.operators.some(({ operator }) => operator.holdsResults === true);
  }

  /** The inputs are read to their ends. Once nothing is unfinished operators emit what waits for time, for `final`; `run` does it, and then `ended` says so. */
  endInput(end: InputEnd): void {
    this.ending.request(end, this.stages, this.queues, this.group.streamTime);
  }

  /** Records whose asynchronous calls, or whose results' turns, are still to come. */
  get unfinishedCount(): number {
    return this.unfinished?.count ?? 0;
  }

  /** True while asynchronous operators take no more: calls have to end first. */
  get isFull(): boolean {
    return this.unfinished?.isFull ?? false;
  }

  /** True while operators emit what they hold back. */
  get isFlushing(): boolean {
    return this.flushing.isOn;
  }

  get isBusy(): boolean {
    return this.busy !== null;
  }

  /** The record that a pending function has in work; without a topic in a punctuation or flush; null when nothing is pending. */
  get inWork(): { readonly topic: string | null; readonly partition: number; readonly offset: number } | null {
    if (this.busy === null && !this.isFlushing) return null;
    const { topic, partition, offset } = this.record;
    return { topic, partition, offset };
  }

  streamTime(node?: string): number {
    const { streamTime } = this.group;
    return this.stages.length === 1 || node === undefined ? streamTime : stageOf(this.stages, node).streamTime(streamTime);
  }

  watermark(node?: string): number {
    if (this.eventTime === null) return -Infinity;
    return node === undefined ? this.eventTime.watermark : this.eventTime.watermarkOf(stageOf(this.stages, node));
  }

  get hasWatermarks(): boolean {
    return this.eventTime !== null;
  }

  /** What its watermark waits for; null when no source has watermarks. */
  explainWatermark(): TaskWatermark | null {
    return this.eventTime?.explain(this.id, this.clock(), this.env.wallClock()) ?? null;
  }

  /** Whether the task runs the node. */
  runs(node: string): boolean {
    return this.options.subTopology.nodes.includes(node);
  }

  /** The lowest watermark that has come in, -Infinity before the first; `watermark()` is what operators have heard. */
  get inputWatermark(): number {
    return this.eventTime?.inputWatermark ?? -Infinity;
  }

  /** What tasks downstream hear of next: the watermark that all operators have worked off, -Infinity before the first. */
  get outputWatermark(): number {
    return this.eventTime?.outputWatermark ?? -Infinity;
  }

  /** How far the foremost of its aligned partitions is ahead of the slowest that it is aligned with, ms; null when none is aligned, or has a watermark. */
  get alignmentDrift(): number | null {
    return this.eventTime?.alignmentDrift ?? null;
  }

  /** The tasks that write a repartition topic, after topics have changed. */
  setSenders(topic: string, senders: readonly string[]): void {
    this.queues.forEach((queue, index) => {
      if (queue.topic === topic) this.eventTime?.setSenders(index, senders, this.clock());
    });
  }

  announcement(): WatermarkAnnouncement | null {
    const { eventTime, id } = this;
    const now = this.clock();
    if (eventTime?.hasNews(now) !== true) return null;
    return { task: id, targets: eventTime.targets, mark: eventTime.takeNews(now), streamTime: this.group.streamTime };
  }

  reads(topic: string, partition: number): boolean {
    return this.inputs.reads(topic, partition);
  }

  addChunk(chunk: FetchedChunk): void {
    this.inputs.add(chunk);
  }

  /**
   * Processes records until `deadline` (ms of `performance.now()`) or until nothing is ready. Returns how many; stops early when a record has to be
   * awaited (`isBusy`), and then `settled()` tells when to call again. Throws what the error policy decided to fail on.
   */
  run(deadline: number): number {
    this.mustBeSound();
    let count = this.takeHeadNews();
    let lastTaken = NaN;
    const now = this.clock();
    this.deadline = deadline;
    const { unfinished } = this;
    const { failures } = this.wired;
    failures.newSlice();
    unfinished?.begin();
    while (this.busy === null) {
      if (this.movesEventTime()) {
        count++;
        const moving = this.moveEventTime();
        if (moving !== undefined) this.await(moving);
        // Else its slice is over.
        if (moving !== undefined || this.movesEventTime()) break;
      }
      if (unfinished !== null) {
        if (unfinished.hasReady) {
          count++;
          this.sendReady(unfinished);
          if (failures.isCommitDue || ((count & 31) === 0 && performance.now() >= deadline)) break;
          continue;
        }
        if (unfinished.isFull || !this.takesInput) break;
      }
      const filling = this.inputs.fillHeads();
      if (filling !== null) {
        this.await(filling);
        break;
      }
      // A watermark of upstream tasks lay among the records: operators hear of it before they get the next one.
      if (this.movesEventTime()) continue;
      const queue = this.group.pick(now);
      if (queue === null) {
        count += this.goOnEnding();
        break;
      }
      count++;
      lastTaken = queue.headTimestamp;
      const pending = this.step(queue);
      if (pending !== undefined) {
        this.await(pending.then(() => this.finish(queue)));
        break;
      }
      const finishing = this.finish(queue);
      if (isPromiseLike(finishing)) {
        this.await(finishing);
        break;
      }
      if (failures.isCommitDue || ((count & 31) === 0 && performance.now() >= deadline)) break;
    }
    if (!Number.isNaN(lastTaken)) this.intake.took(lastTaken);
    return count + this.takeHeadNews();
  }

  /** Moves event time on if it is time to, and fires due wall-clock punctuations; returns how many. */
  punctuate(now: number, wallClock = now): number {
    if (this.busy !== null) return 0;
    const moved = this.emitWatermarks(now) ? 1 : 0;
    if (this.isBusy || this.ending.isOver || this.timers.nextAt > wallClock) return moved;
    const before = this.env.metrics.punctuations;
    const pending = this.timers.punctuate(wallClock);
    if (pending !== undefined) this.await(pending);
    this.dirty = true;
    return moved + this.env.metrics.punctuations - before;
  }

  /** What is processed from now on belongs to the next epoch. */
  endEpoch(): void {
    this.dirty = false;
    const isPassed = (topic: string, partition: number, offset: number): boolean =>
      this.queues.some((queue) => queue.topic === topic && queue.partition === partition && queue.committable > offset);
    this.wired.failures.newEpoch(isPassed, this.unfinishedCount === 0);
  }

  /** Resolves when no record is in work; rejects with what failed. */
  async settled(): Promise<void> {
    while (this.busy !== null) await this.busy;
    this.mustBeSound();
  }

  /** Step 2 of a barrier: lets operators emit what they hold back, parents first. The task must be settled. Throws what failed. */
  flush(): MaybeAsync {
    this.mustBeSound();
    const flushing = this.flushAll();
    if (flushing !== undefined) return flushing.then(() => this.mustBeSound());
    this.mustBeSound();
  }

  positions(): TaskPosition[] {
    return this.queues.map((queue, index) => {
      const { topic, partition, committable: offset, partitionTime, topicId, hasEnded } = queue;
      const isTold = (this.options.inputs[index]?.senders ?? []).length > 0;
      const marks = isTold ? (this.eventTime?.marks(index) ?? null) : null;
      return { topic, partition, offset, partitionTime, topicId, marks, hasEnded };
    });
  }

  /** Deadline of idle waiting or next wall-clock punctuation, ms of the steady clock; null when there is none. */
  nextWakeUp(): number | null {
    const idle = this.group.idleDeadline();
    const timer = this.ending.isOver ? Infinity : this.clock() + Math.max(0, this.timers.nextAt - this.env.wallClock());
    const next = Math.min(idle ?? Infinity, timer, this.eventTime?.nextEmitAt ?? Infinity);
    return next === Infinity ? null : next;
  }

  store(node: string, name: string): StateStore {
    return connectedStore(this.options, node, name);
  }

  isGlobalStore(name: string): boolean {
    return this.options.topology.globalStores.has(name);
  }

  deadLetter(node: string, error: MillraceError, key: unknown): MaybeAsync {
    return this.wired.failures.deadLetter(node, error, key);
  }

  schedule(node: string, options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable {
    return this.timers.schedule(node, options, callback);
  }

  takeRecord(node: string): TakenRecord {
    const stage = stageOf(this.stages, node);
    const time = {
      streamTime: stage.streamTime(this.streamTimeBefore),
      watermark: this.eventTime?.passedBy(stage) ?? -Infinity,
      call: this.wired.guards.get(node)?.latestCall ?? 0,
    };
    return takenRecord(this.record, this.env.errors.deadLetterTopic !== null, time);
  }

  enterRecord(record: TakenRecord): void {
    this.record.enterTaken(record);
  }

  onClose(name: string, close: () => MaybeAsync): void {
    this.beside.push({ name, operator: { close } });
  }

  /**
   * Gives buffered memory back and closes the operators. A function that is still pending is not waited for: it may never end, and its results go nowhere.
   * An operator that fails to close, or takes too long, is logged.
   */
  async close(): Promise<void> {
    this.isClosed = true;
    this.record.close();
    this.eventTime?.close();
    this.timers.clear();
    this.inputs.clear();
    await closeOperators(this.id, [...this.wired.operators, ...this.beside], this.env.logger);
  }

  /** True when the record at the cursor is a watermark of upstream tasks: then they are heard. */
  private hear(queue: RecordQueue): boolean {
    const marks = readWatermarks(queue.cursor.headers());
    if (marks === null) return false;
    this.dirty = true;
    this.eventTime?.hearThrough(queue, marks, this.clock());
    return true;
  }

  private step(queue: RecordQueue): MaybeAsync {
    const timestamp = queue.headTimestamp;
    this.streamTimeBefore = this.group.streamTime;
    if (timestamp > queue.partitionTime) queue.partitionTime = timestamp;
    if (timestamp > this.group.streamTime) this.group.streamTime = timestamp;
    this.dirty = true;
    this.ending.reset();
    return queue.source.process(queue);
  }

  private flushAll(): MaybeAsync {
    if (this.eventTime === null) return this.flushing.all();
    this.eventTime.onPeriodicEmit(this.clock());
    const moving = this.moveEventTime();
    return moving === undefined ? this.flushing.all() : moving.then(() => this.flushing.all());
  }

  /** Throws what the task has failed on, also when user code has caught it on its way. */
  private mustBeSound(): void {
    const failure = this.failure ?? this.wired.failures.fatal;
    if (failure !== null) throw failure;
  }

  private finish(queue: RecordQueue): MaybeAsync {
    if (this.isClosed) return;
    const { fatal } = this.wired.failures;
    if (fatal !== null) throw fatal;
    queue.taken();
    this.env.metrics.recordsProcessed++;
    this.eventTime?.onEvent(queue);
    this.streamTimeBefore = this.group.streamTime;
    return this.timePassed();
  }

  /** Fires what is due in stream time, then hands event time on. */
  private timePassed(): MaybeAsync {
    const { stages } = this;
    for (let i = 0; i < stages.length; i++) {
      const stage = stages[i] as TimeStage;
      if (stage.timers.nextAt > this.group.streamTime) continue;
      const streamTime = stage.streamTime(this.group.streamTime);
      if (stage.timers.nextAt > streamTime) continue;
      const pending = stage.timers.punctuate(streamTime);
      if (pending !== undefined) return pending.then(() => this.timePassed());
    }
    return this.moveEventTime();
  }

  /** Sends the result of an asynchronous call on, as the work on its record. */
  private sendReady(unfinished: UnfinishedRecords): void {
    this.dirty = true;
    const sending = unfinished.sendReady();
    const after = sending === undefined ? this.timePassed() : sending.then(() => (this.isClosed ? undefined : this.timePassed()));
    if (after !== undefined) this.await(after);
  }

  /** Returns whether there was anything to do. */
  private goOnEnding(): 0 | 1 {
    const stage = this.ending.next(this.unfinishedCount);
    if (stage === null) return 0;
    this.dirty = true;
    if (stage !== 'reached') this.await(this.flushing.endStage(stage));
    return 1;
  }

  /** True while operators have a watermark to hear of: no record is taken before. */
  private movesEventTime(): boolean {
    return this.eventTime !== null && this.eventTime.isMoving;
  }

  /** Hands a watermark that has moved to the operators. */
  private moveEventTime(): MaybeAsync {
    if (this.eventTime?.isMoving !== true) return;
    this.dirty = true;
    return this.eventTime.propagate(this.deadline);
  }

  /** True when it was time and event time moved, or there is something to tell the tasks downstream: that wants a barrier, even with no record to go with it. */
  private emitWatermarks(now: number): boolean {
    const { eventTime } = this;
    if (eventTime === null || now < eventTime.nextEmitAt) return false;
    eventTime.onPeriodicEmit(now);
    const moves = eventTime.isMoving;
    const hasNews = eventTime.hasNews(now);
    if (hasNews) this.dirty = true;
    const moving = this.moveEventTime();
    if (moving !== undefined) this.await(moving);
    return moves || hasNews;
  }

  private noteHeadNews(): void {
    this.headNews++;
    this.dirty = true;
  }

  private takeHeadNews(): number {
    const news = this.headNews;
    this.headNews = 0;
    return news;
  }

  private await(pending: Promise<void>): void {
    this.busySince = this.clock();
    this.busy = pending.then(
      () => {
        this.busy = null;
      },
      (error: unknown) => {
        this.failure = error instanceof Error ? error : new Error(String(error));
        this.busy = null;
      },
    );
  }
}
