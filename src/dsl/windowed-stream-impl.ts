import { checkOptions } from '../errors/checked-options.js';
import { windowOperator } from '../processors/event-time/window-operator.js';
import { lastStreamResults } from '../processors/last-results.js';
import { passThroughOperator } from '../processors/pass-through.js';
import { resultAtOnce, resultsAtOnce } from '../processors/result-at-once.js';
import { aggregateAtOnce } from '../processors/state/aggregate-at-once.js';
import type { AggregateFunction } from '../processors/state/aggregate-function.js';
import type { AnyStateDescriptor } from '../processors/state/state-descriptor.js';
import type { Trigger } from '../processors/windowing/trigger.js';
import { eventTimeTrigger, neverTrigger, processingTimeTrigger } from '../processors/windowing/triggers/time-triggers.js';
import { aggregatedContents, evictedContents, folded, listedContents } from '../processors/windowing/window-contents.js';
import type { WindowInfo } from '../processors/windowing/window-context.js';
import { checkWindows, windowStates, type WindowDefinition } from '../processors/windowing/window-engine.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import type { Windowed } from '../time/windowed.js';
import type { WindowAssigner } from '../time/windowing/window-assigner.js';
import { requireAggregate, requireFunction, requireLateness } from './checked-arguments.js';
import { checkedName } from './checked-name.js';
import type { DslContext } from './dsl-context.js';
import { requireWatermarks } from './event-time-sources.js';
import type { GraphNode } from './graph/graph-node.js';
import type { LastResults } from './graph/last-results.js';
import { operatorNode } from './graph/operator-node.js';
import { statefulNode } from './graph/stateful-node.js';
import type { GroupedState } from './grouped-state.js';
import { keyedStateStore } from './keyed-state-store.js';
import { lastResultsStore } from './last-results-store.js';
import type {
  ResultsAndLate,
  SideOutputLate,
  WindowAggregateOptions,
  WindowOptions,
  WindowProcessOptions,
  WindowResultOptions,
} from './keyed-stream.js';
import type { KStream } from './kstream.js';
import type { TwoStageOption } from './options.js';
import { shapes } from './option-shapes.js';
import { prefix } from './prefixes.js';
import { keyedWindowStages, type KeyedFirstStage } from './two-stage-keyed-windows.js';
import { sessionKeySerde, windowedKeySerde } from './windowed-keys.js';

type Results<K, V, R> = KStream<Windowed<K>, R> | ResultsAndLate<K, V, R>;

export class WindowedStreamImpl<K, V> {
  readonly #context: DslContext;
  readonly #grouped: GroupedState<K, V>;
  readonly #assigner: WindowAssigner<V>;
  readonly #options: WindowOptions<V>;

  constructor(context: DslContext, grouped: GroupedState<K, V>, assigner: WindowAssigner<V>, options: WindowOptions<V>) {
    this.#context = context;
    this.#grouped = grouped;
    this.#assigner = assigner;
    this.#options = options;
    const { allowedLateness = 0 } = options;
    requireLateness(allowedLateness);
  }

  aggregate<Acc, Out, R>(
    aggregate: AggregateFunction<V, Acc, Out>,
    options: WindowAggregateOptions<K, Acc, Out, R> & Partial<SideOutputLate> = {},
  ): Results<K, V, R> {
    checkOptions('aggregate', options, shapes.windowAggregate);
    requireAggregate(aggregate);
    return this.#aggregate('aggregate', aggregateAtOnce('aggregate', aggregate), options);
  }

  #aggregate<Acc, Out, R>(
    what: string,
    aggregate: AggregateFunction<V, Acc, Out>,
    options: WindowAggregateOptions<K, Acc, Out, R> & Partial<SideOutputLate>,
  ): Results<K, V, R> {
    const { evictor } = this.#options;
    const { apply, clear } = options;
    const makeResults: WindowDefinition<K, V, Out, R>['apply'] =
      apply === undefined
        ? (_key, result) => [result as unknown as R]
        : (key, result, info) => [resultAtOnce('aggregate: apply', apply(key, result, info))];
    const stages = keyedWindowStages(what, this.#grouped, this.#assigner, this.#options, aggregate, options);
    if (stages !== null) return this.#add<Out, R>(stages.contents as never, makeResults, clear, options, true, stages.first);
    const contents =
      evictor === undefined
        ? aggregatedContents(aggregate, serdeOf(options.accumulatorSerde))
        : evictedContents(evictor, folded(aggregate), this.#grouped.fields.valueSerde ?? undefined);
    return this.#add<Out, R>(contents, makeResults, clear, options, true);
  }

  reduce(reducer: (a: V, b: V) => V, options: WindowResultOptions<V> & TwoStageOption & Partial<SideOutputLate> = {}): Results<K, V, V> {
    checkOptions('reduce', options, shapes.windowReduce);
    requireFunction('reduce: the reducer', reducer);
    // Called with two arguments and no more: `Math.max` is a reducer too.
    const held = (a: V, b: V): V => resultAtOnce('reduce: the reducer', reducer(a, b));
    const valueSerde = this.#grouped.fields.valueSerde ?? undefined;
    const reduce: AggregateFunction<V, V | null, V> = {
      initial: () => null,
      add: (before, value) => (before === null ? value : held(before, value)),
      // Only windows with a value are asked.
      result: (value) => value as V,
      merge: (a, b) => (a === null ? b : b === null ? a : held(a, b)),
    };
    const own = { valueSerde, ...options };
    return this.#aggregate<V | null, V, V>('reduce', reduce, { ...own, accumulatorSerde: valueSerde });
  }

  process<R>(
    apply: (key: K, values: readonly V[], info: WindowInfo) => readonly R[],
    options: WindowProcessOptions<K, R> & Partial<SideOutputLate> = {},
  ): Results<K, V, R> {
    checkOptions('process', options, shapes.windowProcess);
    requireFunction('process: the function', apply);
    const { evictor } = this.#options;
    const valueSerde = this.#grouped.fields.valueSerde ?? undefined;
    const contents =
      evictor === undefined ? listedContents(valueSerde) : evictedContents<V, readonly V[]>(evictor, (values) => values, valueSerde);
    return this.#add<readonly V[], R>(
      contents,
      (key, values, info) => resultsAtOnce('process: the function', apply(key, values, info)),
      options.clear,
      options,
      false,
    );
  }

  #add<C, R>(
    contents: WindowDefinition<K, V, C, R>['contents'],
    apply: WindowDefinition<K, V, C, R>['apply'],
    clear: WindowDefinition<K, V, C, R>['clear'],
    options: WindowResultOptions<R> & Partial<SideOutputLate>,
    isSingle: boolean,
    firstStage: KeyedFirstStage<K, V> | null = null,
  ): Results<K, V, R> {
    const { graph } = this.#context;
    const given = checkedName(options);
    const name = graph.nameOr(given, prefix.window);
    const storeName = given === undefined ? graph.newStoreName(prefix.window) : `${given}-state`;
    const trigger = this.#options.trigger ?? defaultTrigger(this.#assigner);
    const definition: WindowDefinition<K, V, C, R> = {
      assigner: this.#assigner,
      trigger,
      allowedLateness: this.#options.allowedLateness ?? 0,
      contents,
      apply,
      clear,
    };
    checkWindows(definition);
    const states: AnyStateDescriptor[] = [...windowStates<V>(definition as never), ...(options.states ?? [])];
    const { keySerde } = this.#grouped.fields;
    const store = keyedStateStore(storeName, name, keySerde, states);
    const grouped = firstStage === null ? this.#grouped : firstStage(graph, storeName, given);
    const { parent, sources } = grouped.inputFor(graph, storeName);
    if (this.#assigner.time === 'event' && this.#assigner.defaultTrigger !== 'never') requireWatermarks(graph, sources, name);
    const sides = options.sideOutputLate === true ? { results: `${name}-results`, late: `${name}-late` } : null;
    const lastResults = isSingle ? this.#lastResults(trigger, `${name}-results`, serdeOf(options.valueSerde)) : null;
    const node = statefulNode(
      name,
      windowOperator({ storeName, states, definition, sides: sides && { ...sides, late: [sides.late] } }),
      store,
      { storeNamedBy: 'name', usesEventTime: true, lastResults: sides === null ? lastResults : null },
    );
    graph.add(node, [parent]);
    const resultSerde = this.#assigner.size === null ? null : windowedKeySerde(keySerde, this.#assigner.size);
    const stream = <KS, VS>(of: GraphNode, serdes: Pick<Parameters<DslContext['stream']>[0], 'keySerde' | 'valueSerde'>): KStream<KS, VS> =>
      this.#context.stream<KS, VS>({ name: of.name, ...serdes, sources, repartitionRequired: false, node: of } as never);
    const resultSerdes = { keySerde: resultSerde as never, valueSerde: (serdeOf(options.valueSerde) ?? null) as never };
    if (sides === null) return stream<Windowed<K>, R>(node, resultSerdes);
    const [results, late] = [
      operatorNode(sides.results, passThroughOperator(), { lastResults }),
      operatorNode(sides.late, passThroughOperator()),
    ];
    graph.add(results, [node]);
    graph.add(late, [node]);
    return {
      results: stream<Windowed<K>, R>(results, resultSerdes),
      late: stream<K, V>(late, { keySerde, valueSerde: this.#grouped.fields.valueSerde }),
    };
  }

  /** For windows that fire again, with one result each time, for records that come late but not too late. */
  #lastResults<R>(trigger: Trigger<V>, storeName: string, valueSerde: Serde<R> | undefined): LastResults | null {
    const { allowedLateness = 0 } = this.#options;
    if (allowedLateness === 0 || this.#assigner.defaultTrigger !== 'event' || trigger !== eventTimeTrigger()) return null;
    const store = lastResultsStore(storeName, sessionKeySerde(this.#grouped.fields.keySerde), valueSerde ?? null);
    return { supplier: lastStreamResults(store.name), store };
  }
}

function defaultTrigger<V>({ defaultTrigger: trigger }: WindowAssigner<V>): Trigger<V> {
  if (trigger === 'never') return neverTrigger();
  return trigger === 'event' ? eventTimeTrigger() : processingTimeTrigger();
}
