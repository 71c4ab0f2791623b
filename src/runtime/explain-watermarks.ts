import { MillraceError } from '../errors.js';
import type { Topology } from '../topology/nodes.js';
import type { Task } from './task.js';
import { watermarkExplanation, type WatermarkExplanation } from './watermark-explanation.js';

/**
 * What the watermark of an operator waits for, in each of its tasks here.
 *
 * @param operator a node of the topology; null: all
 * @param now ms of the wall clock
 * @throws MILL_CONFIG_INVALID when the topology has no such node
 */
export function explainWatermarks(topology: Topology, tasks: Iterable<Task>, operator: string | null, now: number): WatermarkExplanation {
  checkOperator(topology, operator);
  const explained = [...tasks].filter((task) => operator === null || task.runs(operator)).flatMap((task) => task.explainWatermark() ?? []);
  return watermarkExplanation(operator, explained, now);
}

/** @throws MILL_CONFIG_INVALID when the topology has no such node */
export function checkOperator(topology: Topology, operator: string | null): void {
  if (operator === null || topology.nodes.has(operator)) return;
  const known = [...topology.nodes.keys()].join(', ');
  throw new MillraceError('MILL_CONFIG_INVALID', `explainWatermark: the topology has no operator ${operator}; it has ${known}.`, {
    details: { operator },
  });
}
