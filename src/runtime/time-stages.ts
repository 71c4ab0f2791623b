import type { NodeGuard } from '../processors/node-guard.js';
import type { Operator, UnfinishedWork } from '../processors/operator.js';
import type { Topology } from '../topology/nodes.js';
import { PunctuationQueue } from '../time/punctuation-queue.js';

export interface NamedOperator {
  readonly name: string;
  readonly operator: Operator;
  /** What decides on its errors; null for nodes that no user function runs in. */
  readonly guard: NodeGuard | null;
}

/**
 * Operators of a task that see the same time: those that come after the same operators with unfinished records. Their time is the task's, but does not pass what it
 * was when the oldest of those records came, so that no record is late because of its call.
 */
export class TimeStage {
  readonly operators: NamedOperator[] = [];
  /** Schedules in stream time. */
  readonly timers = new PunctuationQueue();

  constructor(readonly gates: readonly UnfinishedWork[]) {}

  /** The lowest of `base` and what the gates hold it at. */
  streamTime(base: number): number {
    let time = base;
    for (const { oldest } of this.gates) if (oldest !== null && oldest.streamTime < time) time = oldest.streamTime;
    return time;
  }

  watermark(base: number): number {
    let watermark = base;
    for (const { oldest } of this.gates) if (oldest !== null && oldest.watermark < watermark) watermark = oldest.watermark;
    return watermark;
  }
}

/**
 * The stages of a task: the first has no gates; a stage comes after those that its records come through. `operators` are in topological order, and so are those of
 * each stage.
 */
export function timeStages(topology: Topology, operators: readonly NamedOperator[]): readonly TimeStage[] {
  const stages = [new TimeStage([])];
  const gatesBefore = new Map<string, ReadonlySet<UnfinishedWork>>();
  for (const named of operators) {
    const node = topology.nodes.get(named.name);
    const gates = new Set<UnfinishedWork>();
    for (const parent of node === undefined || node.kind === 'source' ? [] : node.parents) {
      for (const gate of gatesBefore.get(parent) ?? []) gates.add(gate);
    }
    let stage = stages.find((other) => other.gates.length === gates.size && other.gates.every((gate) => gates.has(gate)));
    if (stage === undefined) {
      stage = new TimeStage([...gates]);
      stages.push(stage);
    }
    stage.operators.push(named);
    const { unfinished } = named.operator;
    gatesBefore.set(named.name, unfinished === undefined ? gates : new Set([...gates, unfinished]));
  }
  return stages.sort((one, other) => one.gates.length - other.gates.length);
}

/** The stage of a node; the first one for a node without an operator. */
export function stageOf(stages: readonly TimeStage[], node: string): TimeStage {
  const [first] = stages as readonly [TimeStage];
  if (stages.length === 1) return first;
  return stages.find(({ operators }) => operators.some(({ name }) => name === node)) ?? first;
}
