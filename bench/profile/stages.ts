import type { Frame } from './cpu-profile.js';

const benchmark = 'the benchmark itself';
const starting = 'starting (modules, group, topics)';

/** Stages that say nothing of what a record costs. */
export const notOfTheApp: ReadonlySet<string> = new Set([benchmark, starting]);

/** The first rule that one of the stack's frames meets, from the running function outwards, names the stage. Node's own functions count for who called them. */
const rules: readonly (readonly [stage: string, place: RegExp])[] = [
  [benchmark, /\/bench\/ours\/app\.js|\/bench\/harness\//],
  ['the user’s functions', /\/bench\/ours\/topologies\.js/],
  ['writing to LevelDB', /\/classic-level\/|\/abstract-level\/|\/stores\/(engine\/|epoch-writer|frozen-layer|records\/record-layer)/],
  ['stores', /\/src\/stores\//],
  [
    'writing record batches',
    /\/src\/kafka\/record-batch\/(record-batch-builder|batch-|encoded-batches)|\/src\/runtime\/sink-operator|\/src\/runtime\/active-task/,
  ],
  ['reading record batches', /\/src\/kafka\/record-batch\/|\/src\/runtime\/(record-queue|task-inputs|source-reader)/],
  ['operators', /\/src\/processors\//],
  ['requests and sockets', /\/node_modules\/kafkajs\/|\/src\/kafka\//],
  ['transactions', /\/src\/transactions\//],
  ['the loop', /\/src\/runtime\//],
  [starting, /node:internal\/modules|\/src\/(app|rebalance|topology|dsl)\//],
];

/** Serdes are no stage: they count for the reader, writer or store that asked. */
export function stageOf(stack: readonly Frame[]): string {
  if (stack[0]?.name === '(garbage collector)') return 'garbage collection';
  for (const { url } of stack) {
    for (const [stage, place] of rules) if (place.test(url)) return stage;
  }
  return 'Node itself';
}
