import { toStreamOperator } from '../processors/to-stream.js';
import { checkedName } from './checked-name.js';
import type { DslContext, TableState } from './dsl-context.js';
import { operatorNode } from './graph/operator-node.js';
import type { KStream } from './kstream.js';
import type { KTable } from './ktable.js';
import type { NamedOptions } from './options.js';
import { prefix } from './prefixes.js';

export class KTableImpl<K, V> implements KTable<K, V> {
  readonly kind = 'table';
  readonly storeName: string | null;
  readonly #context: DslContext;
  readonly #state: TableState<K, V>;

  constructor(context: DslContext, state: TableState<K, V>) {
    this.#context = context;
    this.#state = state;
    this.storeName = state.queryableStoreName;
  }

  toStream(options: NamedOptions = {}): KStream<K, V> {
    const { graph } = this.#context;
    const node = operatorNode(graph.nameOr(checkedName(options), prefix.toStream), toStreamOperator());
    const { keySerde, valueSerde, sources } = this.#state;
    graph.add(node, [this.#state.node]);
    return this.#context.stream({ name: node.name, keySerde, valueSerde, sources, repartitionRequired: false, node });
  }
}
