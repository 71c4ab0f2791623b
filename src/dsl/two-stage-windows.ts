/** Windows in two stages: parts are of one key and slice of event time, and are combined in the windows behind the repartition topic. */
import { MillraceError } from '../errors.js';
import { localWindowAggregateOperator } from '../processors/two-stage/local-window-aggregate.js';
import { partSerde, type Part } from '../processors/two-stage/part.js';
import { windowPartsOperator } from '../processors/two-stage/window-parts.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import { slicesOf, type Slices } from '../time/slices.js';
import type { TimeWindows } from '../time/time-windows.js';
import { checkedName } from './checked-name.js';
import type { StreamGraph } from './graph/stream-graph.js';
import type { GroupedState } from './grouped-state.js';
import type { LateOptions, NamedOptions, TwoStageOption } from './options.js';
import { addFirstStage, neverNull, twoStageOf, type Stages, type TwoStage } from './two-stage.js';
import type { SecondStage, WindowedCommon, WindowedTarget } from './windowed-aggregation.js';

export interface WindowStages<K, V, A> extends Stages<K, V, A> {
  /** The call, for errors: `aggregate`. */
  readonly what: string;
  /** Records without a value are folded too. */
  readonly takesNull: boolean;
  readonly operatorPrefix: string;
}

/** The second stage over the first one; null: one stage. @throws MILL_TOPOLOGY_INVALID */
export function secondStageOf<K, V, A>(
  target: WindowedTarget<K, V, TimeWindows>,
  options: NamedOptions & TwoStageOption & LateOptions<K, V>,
  stages: WindowStages<K, V, A>,
  store: StoreSpec,
  common: WindowedCommon<TimeWindows>,
): SecondStage<K, A> | null {
  const { what, combine } = stages;
  const { grouped, windows } = target;
  const twoStage = twoStageOf(what, options.twoStage, grouped);
  if (twoStage === null) return null;
  if (common.late !== null) refuseLate(what, '`late`');
  const slices = slicesOf(windows);
  const valueSerde = store.valueSerde as Serde<A> | null;
  const parts = addWindowStage(target.context.graph, grouped, {
    ...stages,
    twoStage,
    slices,
    valueSerde,
    storeName: store.name,
    given: checkedName(options),
  });
  const combineParts = windowPartsOperator<K, A>({
    ...common,
    what,
    combine: neverNull(what, combine),
    valueSerde,
    overlap: slices.overlap,
  });
  return { grouped: parts, supplier: combineParts };
}

export interface WindowStage<K, V, A> extends Omit<WindowStages<K, V, A>, 'combine'> {
  readonly twoStage: TwoStage;
  readonly slices: Slices;
  /** Of the accumulators. */
  readonly valueSerde: Serde<A> | null;
  readonly storeName: string;
  /** Name that was given to the operator. */
  readonly given: string | undefined;
}

/** Puts the first stage of windows under a grouping. */
export function addWindowStage<K, V, A>(
  graph: StreamGraph,
  grouped: GroupedState<K, V>,
  stage: WindowStage<K, V, A>,
): GroupedState<K, Part<A>> {
  const { twoStage, slices, valueSerde, storeName, given, operatorPrefix, what, next, takesNull } = stage;
  return addFirstStage(graph, grouped, {
    twoStage,
    storeName,
    name: graph.suffixedOr(given, '-parts', operatorPrefix),
    partSerde: partSerde(valueSerde),
    operator: (own) => localWindowAggregateOperator({ ...own, what, next, slices, takesNull, valueSerde }),
  });
}

/** @throws MILL_TOPOLOGY_INVALID */
export function refuseLate(what: string, option: string): never {
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `${what}: leave ${option} out, or twoStage: what comes too late has been folded into a part by then, and can't be told apart any more. It is dropped and counted, record by record.`,
  );
}

/** For windows that can't be cut into slices. @throws MILL_TOPOLOGY_INVALID when two stages are asked for */
export function refuseTwoStage(what: string, options: object, why: string): void {
  const { twoStage } = options as TwoStageOption;
  if (twoStage === undefined || twoStage === false) return;
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `${what}: twoStage is for tumbling and hopping windows in event time: ${why}. Leave twoStage out.`,
  );
}
