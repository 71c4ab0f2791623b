import { callRules } from '../processors/async/async-options.js';
import { asyncOperator, type AsyncWork } from '../processors/async/async-operator.js';
import { noKeySerde, unfinishedRowSerde } from '../processors/async/unfinished-row.js';
import type { StoreSpec } from '../stores/store.js';
import type { AsyncOptions } from './async-options.js';
import { checkedName } from './checked-name.js';
import type { StreamState } from './dsl-context.js';
import { asyncNode, type AsyncNode } from './graph/async-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import { serdeOf } from '../serdes/serde-for.js';

/** What makes an asynchronous operator: its work, for each task, and the stores that it has beside that of unfinished records. */
export interface AsyncParts<K, V, R> {
  readonly work: () => AsyncWork<K, V, R>;
  readonly stores?: readonly (string | StoreSpec)[];
}

/**
 * @param partsOf gets what names the operator's stores after it, by a suffix
 * @throws MILL_TOPOLOGY_INVALID when an option is out of range
 */
export function addAsync<K, V, R>(
  graph: StreamGraph,
  stream: StreamState<K, V>,
  namePrefix: string,
  options: AsyncOptions<K, V> & { readonly stores?: readonly (string | StoreSpec)[] },
  partsOf: (nameOf: (suffix: string) => string, name: string) => AsyncParts<K, V, R>,
): AsyncNode {
  const name = graph.nameOr(checkedName(options), namePrefix);
  const rules = callRules(name, options);
  const keySerde = serdeOf(options.inputKeySerde) ?? stream.keySerde;
  const valueSerde = serdeOf(options.inputValueSerde) ?? stream.valueSerde;
  const storeName = (suffix: string): string => graph.derivedName(`${name}-${suffix}`, graph.isGenerated(name));
  const store: StoreSpec = Object.freeze({
    name: storeName('unfinished'),
    kind: 'timeOrderedBuffer',
    keySerde: noKeySerde,
    valueSerde: unfinishedRowSerde(keySerde, valueSerde),
    engine: null,
    logged: true,
    changelogConfigs: Object.freeze({}),
  });
  const parts = partsOf(storeName, name);
  const supplier = asyncOperator({ rules, storeName: store.name, keySerde }, parts.work);
  const stores = Object.freeze([...graph.storesOf('processAsync', options.stores), ...graph.storesOf('processAsync', parts.stores)]);
  const node = asyncNode({ name, supplier, store, stores });
  graph.add(node, [stream.node]);
  return node;
}
