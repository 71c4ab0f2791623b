/** `npm test`: everything that must hold, step by step; the last line says how many tests and checks passed and failed. */
import pc from 'picocolors';
import { build } from '../build/build.js';
import { withPackageChecks } from '../build/package.js';
import { runChecks, sourceChecks } from '../check/run-checks.js';
import { runMain } from '../run-main.js';
import { findJavaTools } from '../stack/java.js';
import { printProgress } from '../stack/progress.js';
import type { Stack } from '../stack/stack.js';
import { startStack } from '../stack/stack.js';
import { runBenchSmoke } from './bench-smoke.js';
import { runChaos } from './chaos.js';
import { runConformance, runDifferential } from './conformance.js';
import type { Counts } from './counts.js';
import { oneFailed, sum } from './counts.js';
import { runJest } from './jest.js';
import { otherNode, otherNodeVersion } from './other-node.js';
import { runSimulation } from './simulation.js';

interface Step {
  readonly name: string;
  readonly run: () => Promise<Counts>;
  /** Runs at the same time. */
  readonly beside?: Step;
}

const beforeStack: readonly Step[] = [
  { name: 'checks', run: () => runChecks(sourceChecks) },
  { name: 'package', run: () => (build() ? withPackageChecks(runChecks) : Promise.resolve(oneFailed)) },
  { name: 'unit tests', run: () => runJest({ project: 'unit' }) },
  { name: `unit tests on Node ${otherNodeVersion}`, run: unitTestsOnOtherNode },
];

function onStack(env: Readonly<Record<string, string>>): readonly Step[] {
  return [
    { name: 'integration tests', run: () => runJest({ project: 'integration', env }) },
    // It waits more than it computes, on a cluster of its own.
    { name: 'fault lab', run: runChaos, beside: { name: 'simulation', run: runSimulation } },
    { name: 'conformance', run: () => runConformance(env) },
    { name: 'benchmarks, small', run: () => runBenchSmoke(env) },
    { name: 'random cases beside Kafka Streams', run: () => runDifferential(env) },
  ];
}

async function main(): Promise<number> {
  // Said before the first minutes are spent, not after.
  if (!process.env['KAFKA_BROKERS']) await findJavaTools();
  const results = new Map<string, Counts>();
  await runSteps(beforeStack, results);
  const stack = await startStack({ registry: true, onProgress: printProgress() });
  try {
    await runSteps(onStack(addresses(stack)), results);
  } finally {
    await stack.stop();
  }
  console.log();
  for (const [name, { passed, failed }] of results)
    console.log(`${failed > 0 ? pc.red('FAIL') : pc.green('ok  ')} ${name}: ${passed} passed, ${failed} failed`);
  const { passed, failed } = sum([...results.values()]);
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 ? 1 : 0;
}

async function runSteps(steps: readonly Step[], results: Map<string, Counts>): Promise<void> {
  for (const step of steps) {
    const atOnce = step.beside === undefined ? [step] : [step, step.beside];
    console.log(pc.bold(`\n${atOnce.map(({ name }) => name).join(', and beside it: ')}`));
    const counts = await Promise.all(atOnce.map((one) => countsOf(one)));
    atOnce.forEach(({ name }, i) => results.set(name, counts[i] ?? oneFailed));
  }
}

async function countsOf({ run }: Step): Promise<Counts> {
  try {
    return await run();
  } catch (error) {
    console.error(error);
    return oneFailed;
  }
}

async function unitTestsOnOtherNode(): Promise<Counts> {
  const node = await otherNode();
  if (node !== null) return runJest({ project: 'unit', node });
  console.log(`Left out: npm has no Node ${otherNodeVersion} for ${process.platform}-${process.arch}.`);
  return { passed: 0, failed: 0 };
}

function addresses({ bootstrapServers, registryUrl }: Stack): Record<string, string> {
  return { KAFKA_BROKERS: bootstrapServers.join(','), ...(registryUrl !== null && { SCHEMA_REGISTRY_URL: registryUrl }) };
}

await runMain(main);
