// Operator state: a task collects what comes to it, whatever the key, and sends it on in threes; what waits survives, and is dealt out over another number of tasks. Runs without a broker:
//   npx tsx examples/56-operator-state.ts
import {
  operatorListState,
  serdes,
  type KStream,
  type OperatorListState,
  type Processor,
  type ProcessorContext,
  type Record,
} from 'millrace';
import { TestHarness } from 'millrace/testing';

const waiting = operatorListState<string>('waiting', { serde: serdes.string, redistribution: 'split' });

class InThrees implements Processor<string, string, string, string> {
  declare private context: ProcessorContext<string, string>;
  declare private waiting: OperatorListState<string>;

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
    this.waiting = context.operatorState(waiting);
  }

  process({ key, value }: Record<string, string>): void | Promise<void> {
    this.waiting.add(`${key}:${value}`);
    const all = this.waiting.get();
    if (all.length < 3) return;
    this.waiting.clear();
    return this.context.forward({ key: `task ${this.context.partition}`, value: all.join(' ') });
  }
}

const texts = { keySerde: serdes.string, valueSerde: serdes.string };
const inThrees = (orders: KStream<string, string>) =>
  orders.process(() => new InThrees(), { name: 'in-threes', operatorStates: [waiting], ...texts });

await using before = new TestHarness(inThrees, texts);
for (const [key, value] of [
  ['ada', 'tea'],
  ['bob', 'rice'],
  ['cyd', 'figs'],
  ['ada', 'oats'],
  ['dee', 'salt'],
] as const)
  await before.push(key, value);
for (const { key, value } of before.outputs()) console.log(`${key} sends ${value}`);
console.log(`waiting: ${JSON.stringify(await before.operatorState(waiting))}`);

// Two tasks go on with what one had: each waiting order is in one of them.
await using after = new TestHarness(inThrees, { ...texts, parallelism: 2, from: await before.snapshot() });
console.log(`waiting: ${JSON.stringify(await after.operatorState(waiting))}`);
for (const value of ['milk', 'eggs']) await after.push('bob', value);
for (const { key, value } of after.outputs()) console.log(`${key} sends ${value}`);

// Prints:
// task 0 sends ada:tea bob:rice cyd:figs
// waiting: [["ada:oats","dee:salt"]]
// waiting: [["ada:oats"],["dee:salt"]]
// task 0 sends ada:oats bob:milk bob:eggs
