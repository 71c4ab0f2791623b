/** What the aggregations of all window kinds have in common: their store, their node and the serde of windowed keys. */
import type { WindowEmit } from '../processors/emit.js';
import type { LateTarget } from '../processors/late-records.js';
import type { OperatorSupplier } from '../processors/operator.js';
import type { Part } from '../processors/two-stage/part.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import type { Windowed } from '../time/windowed.js';
import { addAggregation } from './aggregation.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { KTable } from './ktable.js';
import { lateTarget } from './late-output.js';
import { windowTableStore, type AnyWindows } from './materialize.js';
import type { LateOptions, WindowTableOptions } from './options.js';

/** A grouped stream and the windows it is cut into. */
export interface WindowedTarget<K, V, W extends AnyWindows> {
  readonly context: DslContext;
  readonly grouped: GroupedState<K, V>;
  readonly windows: W;
  /** Milliseconds of stream time after a window's end until it is closed. */
  readonly grace: number;
  readonly windowedKey: (keySerde: Serde<K> | null) => Serde<Windowed<K>>;
}

/** What the operators of all of them take. */
export interface WindowedCommon<W extends AnyWindows> {
  readonly storeName: string;
  readonly windows: W;
  readonly emit: WindowEmit;
  readonly late: LateTarget;
  /** Of the rows; null: the app's. */
  readonly valueSerde: Serde<unknown> | null;
}

/** @param secondStage of those that can be done in two stages: puts the first one under the grouping, when it is asked for */
export function addWindowedAggregation<K, V, VR, W extends AnyWindows>(
  target: WindowedTarget<K, V, W>,
  operatorPrefix: string,
  options: WindowTableOptions<K, VR> & LateOptions<K, V>,
  carriedValueSerde: Serde<VR> | null,
  supplierOf: (common: WindowedCommon<W>) => OperatorSupplier,
  secondStage: (store: StoreSpec, common: WindowedCommon<W>) => SecondStage<K, VR> | null = () => null,
): KTable<Windowed<K>, VR> {
  const { context, grouped, windows } = target;
  const { materialized, emit, late } = options;
  const keySerde = serdeOf(materialized?.keySerde) ?? grouped.fields.keySerde;
  const valueSerde = serdeOf(materialized?.valueSerde) ?? carriedValueSerde;
  const store = windowTableStore(context.graph, operatorPrefix, materialized, { keySerde, valueSerde }, options, windows);
  const common = { storeName: store.name, windows, emit: emit ?? null, late: lateTarget(late, store.name), valueSerde: store.valueSerde };
  const keySerdes = { keySerde: target.windowedKey(keySerde), valueSerde };
  const aggregation = { operatorPrefix, options, store, ...keySerdes, windowGrace: target.grace };
  const second = secondStage(store, common);
  if (second !== null) return addAggregation(context, { ...aggregation, ...second });
  return addAggregation(context, { ...aggregation, grouped, supplier: supplierOf(common), late });
}

/** What comes behind a first stage. */
export interface SecondStage<K, A> {
  readonly grouped: GroupedState<K, Part<A>>;
  readonly supplier: OperatorSupplier;
}
