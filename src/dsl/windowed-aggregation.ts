/** What the aggregations of all window kinds have in common: their store, their node and the serde of windowed keys. */
import type { WindowEmit } from '../processors/emit.js';
import type { LateTarget } from '../processors/late-records.js';
import type { OperatorSupplier } from '../processors/operator.js';
import type { Serde } from '../serdes/serde.js';
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

export function addWindowedAggregation<K, V, VR, W extends AnyWindows>(
  target: WindowedTarget<K, V, W>,
  operatorPrefix: string,
  options: WindowTableOptions<K, VR> & LateOptions<K, V>,
  carriedValueSerde: Serde<VR> | null,
  supplierOf: (common: {
    readonly storeName: string;
    readonly windows: W;
    readonly emit: WindowEmit;
    readonly late: LateTarget;
  }) => OperatorSupplier,
): KTable<Windowed<K>, VR> {
  const { context, grouped, windows } = target;
  const { materialized, emit, late } = options;
  const keySerde = materialized?.keySerde ?? grouped.fields.keySerde;
  const valueSerde = materialized?.valueSerde ?? carriedValueSerde;
  const store = windowTableStore(context.graph, operatorPrefix, materialized, { keySerde, valueSerde }, options, windows);
  return addAggregation(context, {
    grouped,
    operatorPrefix,
    options,
    store,
    supplier: supplierOf({ storeName: store.name, windows, emit: emit ?? null, late: lateTarget(late, store.name) }),
    late,
    keySerde: target.windowedKey(keySerde),
    valueSerde,
    windowGrace: target.grace,
  });
}
