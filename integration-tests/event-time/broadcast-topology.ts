/**
 * The job of the broadcast test: each rule counts how often it was taken, each record of the data tells what its task knows of the rules, and which numbers were the last that
 * its task has given.
 */
import {
  mapState,
  operatorListState,
  serdes,
  StreamsBuilder,
  valueState,
  type KeyedBroadcastAccess,
  type KeyedBroadcastProcessor,
  type KeyedBroadcastProcessorContext,
  type OperatorListState,
  type ReadonlyBroadcastState,
  type Record,
  type Topology,
  type ValueState,
} from 'millrace';

export interface BroadcastTopics {
  /** Key: rule. */
  readonly rules: string;
  /** Key: anything, in a partition that is chosen with it. */
  readonly data: string;
  /** Of each record of the data: `<numbers, that of the key's record last> <rule>=<times taken> …`. */
  readonly results: string;
}

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const taken = mapState<string, number>('taken', { keySerde: serdes.string, serde: serdes.double });
/** How many numbers a task remembers. */
export const remembered = 5;
const numbers = operatorListState<number>('numbers', { serde: serdes.int32 });
const seen = valueState<number>('seen', { serde: serdes.double });

export function broadcastTopology(topics: BroadcastTopics): Topology {
  const builder = new StreamsBuilder();
  const rules = builder.stream(topics.rules, text).broadcast({ name: 'rules', states: [taken] });
  builder
    .stream(topics.data, text)
    .keyBy()
    .connect(rules)
    .process(() => new Taken(), { name: 'taken', states: [seen], operatorStates: [numbers], ...text })
    .to(topics.results);
  return builder.build();
}

class Taken implements KeyedBroadcastProcessor<string, string, string, string, string, string> {
  declare private context: KeyedBroadcastProcessorContext<string, string, string>;
  declare private taken: ReadonlyBroadcastState<string, number>;
  declare private seen: ValueState<number>;
  declare private numbers: OperatorListState<number>;

  init(context: KeyedBroadcastProcessorContext<string, string, string>): void {
    this.context = context;
    this.taken = context.broadcastState(taken);
    this.seen = context.state(seen);
    this.numbers = context.operatorState(numbers);
  }

  process({ key }: Record<string, string>): void | Promise<void> {
    const count = (this.seen.value() ?? 0) + 1;
    this.seen.update(count);
    this.numbers.add(count);
    const last = this.numbers.get();
    if (last.length > remembered) this.numbers.update(last.slice(1));
    const known = this.taken.entries().map(([rule, times]) => `${rule}=${times}`);
    return this.context.forward({ key, value: [this.numbers.get().join(), ...known.sort()].join(' ') });
  }

  processBroadcast({ key }: Record<string, string>, broadcast: KeyedBroadcastAccess<string>): void {
    const state = broadcast.state(taken);
    state.put(key, (state.get(key) ?? 0) + 1);
  }
}
