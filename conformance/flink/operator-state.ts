/**
 * Cases `{ old, newParallelism, evenSplit, … }`: operator state given out anew, by a harness that takes the state of another one over another number of tasks. The order within
 * lists is nobody's to rely on.
 */
import { serdes } from '../../src/serdes/serdes.js';
import { partitionForKey } from '../../src/bytes/murmur2.js';
import type { KStream } from '../../src/dsl/kstream.js';
import { operatorListState } from '../../src/processors/operator-state/operator-state-descriptor.js';
import type { OperatorListState } from '../../src/processors/operator-state/operator-list-state.js';
import type { Processor, ProcessorContext, Record } from '../../src/processors/processor.js';
import { TestHarness } from '../../src/testing/test-harness.js';
import type { HarnessSnapshot } from '../../src/testing/harness-snapshot.js';
import { list, number, type CaseEntry, type ConformanceCase, type Json } from '../case.js';
import { differs } from './shown.js';

export function operatorStateCase({ list: from, index, value }: CaseEntry): ConformanceCase | null {
  if (!('evenSplitSizes' in value)) return null;
  return {
    name: `${from}[${index}]`,
    run: async () => {
      const old = list(value, 'old') as readonly (readonly string[])[];
      const { split, united } = await restored(await snapshotOf(old), number(value, 'newParallelism'));
      return [
        ...differs(
          'sizes',
          value.evenSplitSizes,
          split.map((part) => part.length),
        ),
        ...differs('elements', old.flat().sort(), split.flat().sort()),
        ...united.flatMap((part, instance) => differs(`union of ${instance}`, value.unionEachSubtaskGetsAll, part.sort())),
      ];
    },
  };
}

const texts = { keySerde: serdes.string, valueSerde: serdes.string };
const split = operatorListState<string>('split', { serde: serdes.string, redistribution: 'split' });
const union = operatorListState<string>('union', { serde: serdes.string, redistribution: 'union' });

/** Keeps every value in both lists. */
class Keeper implements Processor<string, string> {
  private lists: readonly OperatorListState<string>[] = [];

  init(context: ProcessorContext<never, never>): void {
    this.lists = [split, union].map((descriptor) => context.operatorState(descriptor));
  }

  process({ value }: Record<string, string>): void {
    for (const state of this.lists) state.add(value);
  }
}

const keeper = (input: KStream<string, string>): KStream<never, never> =>
  input.process(() => new Keeper(), { name: 'keeper', operatorStates: [split, union] });

async function snapshotOf(lists: readonly (readonly string[])[]): Promise<HarnessSnapshot> {
  await using harness = new TestHarness(keeper, { ...texts, parallelism: lists.length });
  for (const [partition, elements] of lists.entries())
    for (const element of elements) await harness.push(keyIn(partition, lists.length), element);
  // Awaited here: the harness is closed when the function ends.
  return await harness.snapshot();
}

async function restored(from: HarnessSnapshot, parallelism: number): Promise<{ split: Json[][]; united: Json[][] }> {
  await using harness = new TestHarness(keeper, { ...texts, parallelism, from });
  return { split: await harness.operatorState(split), united: await harness.operatorState(union) };
}

/** A key whose records go to that partition. */
function keyIn(partition: number, partitions: number): string {
  for (let n = 0; ; n++) {
    const bytes = Buffer.from(`k${n}`);
    if (partitionForKey(bytes, 0, bytes.length, partitions) === partition) return `k${n}`;
  }
}
