/** The parts of a plan that can be left away, by name: `a3` is the first action of step 3, `a3b` its second, `f3` what is fed in it, `network` what the network does by itself. */
import { shrink } from '../../integration-tests/faults/shrink.js';
import type { PlannedStep, SchedulePlan } from './plan.js';

export function partsOf({ steps, network }: SchedulePlan): readonly string[] {
  const parts = steps.flatMap((step) => [
    ...(step.feed.length > 0 ? [`f${step.number}`] : []),
    ...step.actions.flatMap(({ kind }, index) => (kind === 'nothing' ? [] : [actionName(step, index)])),
  ]);
  return network.loseRequest === 0 && network.loseResponse === 0 ? parts : [...parts, 'network'];
}

export function withoutParts(plan: SchedulePlan, without: ReadonlySet<string>): SchedulePlan {
  const steps = plan.steps.map((step) => ({
    ...step,
    feed: without.has(`f${step.number}`) ? [] : step.feed,
    actions: step.actions.filter((_, index) => !without.has(actionName(step, index))),
  }));
  const { delayMs } = plan.network;
  return { ...plan, steps, network: without.has('network') ? { delayMs } : plan.network };
}

/** The parts of a failing plan that it takes to fail. `fails` is told what is left away. */
export async function shrinkParts(
  parts: readonly string[],
  fails: (without: ReadonlySet<string>) => Promise<boolean>,
  tries: number,
): Promise<readonly string[]> {
  return shrink(parts, (kept) => fails(complement(parts, kept)), tries);
}

export function complement(parts: readonly string[], kept: readonly string[]): ReadonlySet<string> {
  const keeps = new Set(kept);
  return new Set(parts.filter((part) => !keeps.has(part)));
}

function actionName({ number }: PlannedStep, index: number): string {
  return `a${number}${index === 0 ? '' : 'b'}`;
}
