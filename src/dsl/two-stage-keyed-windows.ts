/** Windows of keyed streams in two stages. A watermark closes them, and comes behind the parts of what it follows: so each part finds the windows open that its records would have found open. */
import { resultAtOnce } from '../processors/result-at-once.js';
import type { AggregateFunction } from '../processors/state/aggregate-function.js';
import { aggregateOfParts } from '../processors/two-stage/aggregate-of-parts.js';
import type { Part } from '../processors/two-stage/part.js';
import { eventTimeTrigger } from '../processors/windowing/triggers/time-triggers.js';
import { aggregatedContents, type WindowContents } from '../processors/windowing/window-contents.js';
import { serdeOf, type SerdeFor } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import { serdes } from '../serdes/serdes.js';
import { slicesOfAssigner, type Slices } from '../time/slices.js';
import type { WindowAssigner } from '../time/windowing/window-assigner.js';
import type { StreamGraph } from './graph/stream-graph.js';
import type { GroupedState } from './grouped-state.js';
import type { SideOutputLate, WindowOptions } from './keyed-stream.js';
import type { TwoStageOption } from './options.js';
import { prefix } from './prefixes.js';
import { requireMerger, twoStageOf } from './two-stage.js';
import { addWindowStage, refuseLate, refuseTwoStage } from './two-stage-windows.js';

/** Puts the first stage under the grouping; gives that of the parts. */
export type KeyedFirstStage<K, V> = (
  graph: StreamGraph,
  storeName: string,
  given: string | undefined,
) => GroupedState<K, Part<unknown> | V>;

export interface KeyedWindowStages<K, V, A, Out> {
  readonly first: KeyedFirstStage<K, V>;
  /** Of the windows behind it. */
  readonly contents: WindowContents<Part<A>, Out>;
}

type Options<A> = TwoStageOption & Partial<SideOutputLate> & { readonly accumulatorSerde?: SerdeFor<A> };

/** null: one stage. @throws MILL_TOPOLOGY_INVALID when these windows, or what is asked of them, need each record */
export function keyedWindowStages<K, V, A, Out>(
  what: string,
  grouped: GroupedState<K, V>,
  assigner: WindowAssigner<V>,
  windowOptions: WindowOptions<V>,
  aggregate: AggregateFunction<V, A, Out>,
  options: Options<A>,
): KeyedWindowStages<K, V, A, Out> | null {
  const slices = checkedSlices(what, assigner, windowOptions, options);
  const twoStage = twoStageOf(what, options.twoStage, grouped);
  if (twoStage === null || slices === null) return null;
  if (aggregate.merge === undefined) requireMerger('merge', undefined, options.twoStage);
  if (options.sideOutputLate === true) refuseLate(what, '`sideOutputLate`');
  const valueSerde: Serde<A> = serdeOf(options.accumulatorSerde) ?? serdes.json<A>();
  return {
    first: (graph, storeName, given) =>
      addWindowStage<K, V, A>(graph, grouped, {
        what,
        twoStage,
        slices,
        valueSerde,
        storeName,
        given,
        operatorPrefix: prefix.window,
        takesNull: false,
        next: (part, value) => resultAtOnce(`${what}: add`, aggregate.add(part ?? aggregate.initial(), value)),
      }),
    contents: aggregatedContents<Part<A>, A | null, Out>(aggregateOfParts(what, aggregate, valueSerde, slices.overlap), valueSerde),
  };
}

function checkedSlices<V>(
  what: string,
  assigner: WindowAssigner<V>,
  { evictor, trigger }: WindowOptions<V>,
  options: TwoStageOption,
): Slices | null {
  const slices = slicesOfAssigner(assigner);
  if (slices === null) refuseTwoStage(what, options, `${assigner.name} can't be cut into slices of time whose records share their windows`);
  else if (evictor !== undefined) refuseTwoStage(what, options, `the evictor ${evictor.name} wants each record`);
  else if (trigger !== undefined && trigger !== eventTimeTrigger())
    refuseTwoStage(what, options, `the trigger ${trigger.name} wants each record`);
  return slices;
}
