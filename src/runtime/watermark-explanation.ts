/** Says of a task what its watermark waits for: `app.explainWatermark` and the test driver's. */
import type { WatermarkPart } from '../time/watermarks/source-watermarks.js';
import type { PartitionLag } from './partition-group.js';
import type { RecordQueue } from './record-queue.js';

/**
 * `ahead`: held back itself, by the alignment. `behind`: has records that were not read or processed yet. `quiet`: read to its end, and not idle (yet). `silent`:
 * nothing was heard of it. `told`: an upstream task that has said where it is. `idle`: left out. `ended`: there is no more to come.
 */
export type WatermarkInputState = 'ahead' | 'behind' | 'quiet' | 'silent' | 'told' | 'idle' | 'ended';

/** A partition, or an upstream task, that a task's watermark depends on. */
export interface WatermarkInput {
  readonly topic: string;
  readonly partition: number;
  /** The upstream task that tells its watermark through the partition; null for a partition whose records make the watermark. */
  readonly upstreamTask: string | null;
  /** ms since the epoch; null before the first, `Infinity` at the end of a bounded input. */
  readonly watermark: number | null;
  /** Since when the watermark is where it is, ms of the wall clock. */
  readonly since: number;
  readonly state: WatermarkInputState;
  /** Records behind the end; null when not known, and for upstream tasks. */
  readonly lag: number | null;
  /** Why it is where it is, in words. */
  readonly reason: string;
}

/** What the watermark of one task waits for. */
export interface TaskWatermark {
  readonly taskId: string;
  /** What the task's operators have heard, ms since the epoch; null before the first. */
  readonly watermark: number | null;
  /** The input with the lowest watermark of those that are not idle; null when all are, or when there is none. */
  readonly heldBackBy: WatermarkInput | null;
  /** Every input, the one that holds back first. */
  readonly inputs: readonly WatermarkInput[];
}

/** What `app.explainWatermark` gives. */
export interface WatermarkExplanation {
  /** As asked; null: every operator. */
  readonly operator: string | null;
  /** The tasks on this instance that run the operator and have event time. */
  readonly tasks: readonly TaskWatermark[];
  /** All of it as lines of text. */
  readonly text: string;
}

export interface TaskInputs {
  readonly queues: readonly RecordQueue[];
  readonly lags: PartitionLag;
  /** ms of the clock that goes by what it says of itself */
  readonly now: number;
  /** The same moment by the wall clock, ms. */
  readonly wallClock: number;
}

export function explainTask(taskId: string, watermark: number, parts: readonly WatermarkPart[], task: TaskInputs): TaskWatermark {
  const inputs = parts.map((part) => explainPart(part, task)).sort(byWatermark);
  const [first] = inputs;
  return { taskId, watermark: known(watermark), heldBackBy: first !== undefined && first.state !== 'idle' ? first : null, inputs };
}

/** @param now ms of the wall clock */
export function watermarkExplanation(operator: string | null, tasks: readonly TaskWatermark[], now: number): WatermarkExplanation {
  const lines = tasks.flatMap(({ taskId, watermark, heldBackBy, inputs }) => [
    `task ${taskId}: watermark ${shownTime(watermark)}, ${heldBackBy === null ? 'nothing holds it back' : `held back by ${nameOf(heldBackBy)}`}`,
    ...inputs.map(
      (input) => `  ${nameOf(input)}: ${shownTime(input.watermark)} for ${shownSpan(now - input.since)}, ${input.state}: ${input.reason}`,
    ),
  ]);
  const what = operator === null ? 'an operator' : operator;
  return { operator, tasks, text: lines.length === 0 ? `no task of ${what} with event time runs here` : lines.join('\n') };
}

function explainPart(part: WatermarkPart, { queues, lags, now, wallClock }: TaskInputs): WatermarkInput {
  const { topic, partition, sender, watermark } = part;
  const since = part.since + wallClock - now;
  const lag = sender === null ? lags.lag(topic, partition) : null;
  const queue = queues[part.index];
  const [state, reason] = sender === null ? stateOfPartition(part, queue, lag, lags, now) : stateOfSender(part, sender, now);
  return { topic, partition, upstreamTask: sender, watermark: known(watermark), since, state, lag, reason };
}

function stateOfPartition(
  { watermark, idle, quietSince, idleTimeout, topic, partition }: WatermarkPart,
  queue: RecordQueue | undefined,
  lag: number | null,
  lags: PartitionLag,
  now: number,
): [WatermarkInputState, string] {
  if (watermark === Infinity) return ['ended', 'it was read to the end of its bounded input'];
  if (idle) return ['idle', 'it had no records for longer than its idle timeout; its next record makes it count again'];
  if (queue?.held === true) return ['ahead', 'it waits for a slower partition that it is aligned with'];
  if (lag !== null && lag > 0) return ['behind', `${lag} records of it are still on the broker`];
  if (queue?.isEmpty === false) return ['behind', 'records of it have arrived and are not processed yet'];
  if (lag === null || !lags.isAtEnd(topic, partition))
    return [
      'silent',
      'the broker has not said lately that it is read to its end: it is paused, back-pressured, just assigned, or its broker does not answer',
    ];
  if (idleTimeout === null) return ['quiet', 'it is read to its end, and without the option `idleness` it holds until its next record'];
  if (quietSince === null) return ['quiet', `it is read to its end; it becomes idle after ${shownSpan(idleTimeout)} without a record`];
  const left = Math.max(0, idleTimeout - (now - quietSince));
  return ['quiet', `it is read to its end and had no record for ${shownSpan(now - quietSince)}; it becomes idle in ${shownSpan(left)}`];
}

function stateOfSender({ watermark, idle, since, heard }: WatermarkPart, task: string, now: number): [WatermarkInputState, string] {
  if (watermark === Infinity) return ['ended', `task ${task} has come to the end of its bounded input`];
  if (idle) return ['idle', `task ${task} says that all its inputs are idle`];
  if (!heard)
    return ['silent', `task ${task} has not told its watermark yet: it is starting, runs nowhere, or has had no records; ask its instance`];
  return ['told', `task ${task} told it ${shownSpan(now - since)} ago; its instance can say what holds it back`];
}

/** Those that hold back first, idle ones last. */
function byWatermark(a: WatermarkInput, b: WatermarkInput): number {
  if ((a.state === 'idle') !== (b.state === 'idle')) return a.state === 'idle' ? 1 : -1;
  const [left, right] = [a.watermark ?? -Infinity, b.watermark ?? -Infinity];
  return left === right ? 0 : left < right ? -1 : 1;
}

function known(watermark: number): number | null {
  return watermark === -Infinity ? null : watermark;
}

function nameOf({ topic, partition, upstreamTask }: WatermarkInput): string {
  return upstreamTask === null ? `${topic}-${partition}` : `task ${upstreamTask} through ${topic}-${partition}`;
}

function shownTime(time: number | null): string {
  if (time === null) return 'none yet';
  if (time === Infinity) return 'the end';
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString();
}

function shownSpan(ms: number): string {
  return ms < 1_000 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
