/** A counting app of each side whose store holds a million keys: made once in a run, used by the rows that restore or restart it. */
import { untilCommitted, untilEmpty } from '../harness/committed-offsets.js';
import type { Bench, Side } from '../harness/bench.js';
import type { ProgramArguments } from '../harness/arguments.js';
import { commitInterval } from './throughput.js';

const mostKeys = 1_000_000;
const timeoutMs = 600_000;

export interface PreparedStore {
  readonly applicationId: string;
  readonly input: string;
  readonly output: string;
  readonly stateDir: string;
  readonly keys: number;
  /** For {@link Bench.startApp}. */
  readonly appArguments: ProgramArguments;
}

const prepared = new WeakMap<Bench, Map<Side, Promise<PreparedStore>>>();

/** The app is stopped, its group empty, its state directory and changelog up to date. */
export function preparedStore(bench: Bench, side: Side): Promise<PreparedStore> {
  const ofBench = prepared.get(bench) ?? new Map<Side, Promise<PreparedStore>>();
  prepared.set(bench, ofBench);
  let store = ofBench.get(side);
  if (store === undefined) ofBench.set(side, (store = prepare(bench, side)));
  return store;
}

async function prepare(bench: Bench, side: Side): Promise<PreparedStore> {
  const keys = Math.min(mostKeys, bench.options.records);
  // Each side gets a topic of its own, since probes are written to it later.
  const { topic: input } = await bench.inputs.get({ records: keys, keys, order: 'inTurn', role: side });
  const applicationId = bench.freshName('million-keys');
  const output = await bench.freshTopic('million-keys-output');
  const stateDir = await bench.stateDirectory(applicationId);
  const appArguments = {
    topology: 'count',
    input,
    output,
    'application-id': applicationId,
    'state-dir': stateDir,
    guarantee: 'exactly_once',
    'commit-interval': commitInterval.exactly_once,
  };
  const app = bench.startApp(side, appArguments);
  try {
    await app.unlessItEnds(untilCommitted(bench.port, applicationId, input), timeoutMs);
    await app.close();
  } finally {
    await app.kill();
  }
  await untilEmpty(bench.port, applicationId);
  return { applicationId, input, output, stateDir, keys, appArguments };
}
