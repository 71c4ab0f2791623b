import { callRules } from '../processors/async/async-options.js';
import { asyncOperator, type AsyncWork } from '../processors/async/async-operator.js';
import { noKeySerde, unfinishedRowSerde } from '../processors/async/unfinished-row.js';
import type { StoreSpec } from '../stores/store.js';
import type { AsyncOptions } from './async-options.js';
import { checkedName } from './checked-name.js';
import type { StreamState } from './dsl-context.js';
import { asyncNode, type AsyncNode } from './graph/async-node.js';
import type { StreamGraph } from './graph/stream-graph.js';

/** @throws MILL_TOPOLOGY_INVALID when an option is out of range */
export function addAsync<K, V, R>(
  graph: StreamGraph,
  stream: StreamState<K, V>,
  namePrefix: string,
  options: AsyncOptions<K, V> & { readonly stores?: readonly (string | StoreSpec)[] },
  work: (name: string) => () => AsyncWork<K, V, R>,
): AsyncNode {
  const name = graph.nameOr(checkedName(options), namePrefix);
  const rules = callRules(name, options);
  const keySerde = options.inputKeySerde ?? stream.keySerde;
  const valueSerde = options.inputValueSerde ?? stream.valueSerde;
  const store: StoreSpec = Object.freeze({
    name: graph.derivedName(`${name}-unfinished`, graph.isGenerated(name)),
    kind: 'timeOrderedBuffer',
    keySerde: noKeySerde,
    valueSerde: unfinishedRowSerde(keySerde, valueSerde),
    engine: null,
    logged: true,
    changelogConfigs: Object.freeze({}),
  });
  const supplier = asyncOperator({ rules, storeName: store.name, keySerde }, work(name));
  const node = asyncNode({
    name,
    supplier,
    store,
    stores: Object.freeze(graph.storesOf('processAsync', options.stores)),
  });
  graph.add(node, [stream.node]);
  return node;
}
