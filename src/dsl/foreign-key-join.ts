/**
 * Joins a table with another one by a key in its values (KIP-213): subscriptions go through one internal topic to where the other table's rows are, and answers come back through a second one.
 *
 * Each node, topic and store is named and numbered as Kafka Streams does.
 */
import { MillraceError } from '../errors.js';
import { foreignKeyAnswerOperator } from '../processors/foreign-key-answer.js';
import { foreignKeyPropagateOperator } from '../processors/foreign-key-propagate.js';
import { foreignKeyResolveOperator } from '../processors/foreign-key-resolve.js';
import { foreignKeySendOperator } from '../processors/foreign-key-send.js';
import { foreignKeySubscribeOperator } from '../processors/foreign-key-subscribe.js';
import type { RowJoiner } from '../processors/user-functions.js';
import { bytesSerde } from '../serdes/bytes.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import { subscriptionResponseSerde, subscriptionSerde, type Subscription, type SubscriptionResponse } from '../serdes/subscription.js';
import type { StoreSpec } from '../stores/store.js';
import type { Partitioner } from '../topology/nodes.js';
import { checkResourceName } from '../topology/resource-name.js';
import { checkedName } from './checked-name.js';
import type { DslContext, TableState } from './dsl-context.js';
import type { GraphNode } from './graph/graph-node.js';
import { internalSinkNode, internalSourceNode } from './graph/internal-topic-nodes.js';
import { operatorNode } from './graph/operator-node.js';
import { stateStoreNode } from './graph/state-store-node.js';
import { streamToTableNode } from './graph/stream-to-table-node.js';
import type { KTable } from './ktable.js';
import { tableStore } from './materialize.js';
import type { ForeignKeyJoinOptions } from './options.js';
import { prefix } from './prefixes.js';
import { storedView } from './table-view.js';

const topicSuffix = '-topic';

export function joinByForeignKey<K, V, KO, VO, VR>(
  context: DslContext,
  leftTable: TableState<K, V>,
  other: KTable<KO, VO>,
  left: boolean,
  joiner: RowJoiner<K, V, VO, VR>,
  options: ForeignKeyJoinOptions<K, V, KO, VR>,
): KTable<K, VR> {
  return new ForeignKeyJoin(context, leftTable, context.tableState(other), left, joiner, options).add();
}

class ForeignKeyJoin<K, V, KO, VO, VR> {
  private readonly given: string | undefined;

  constructor(
    private readonly context: DslContext,
    private readonly leftTable: TableState<K, V>,
    private readonly rightTable: TableState<KO, VO>,
    private readonly left: boolean,
    private readonly joiner: RowJoiner<K, V, VO, VR>,
    private readonly options: ForeignKeyJoinOptions<K, V, KO, VR>,
  ) {
    this.given = checkedName(options);
  }

  add(): KTable<K, VR> {
    // The left one to leave the old key, the right one as Kafka Streams asks for it.
    this.rightTable.view.sendOldValues(true);
    this.leftTable.view.sendOldValues(true);
    const subscriptions = this.addSubscriptions();
    const store = this.addSubscriptionStore(subscriptions.serde);
    const answers = this.addAnswering(subscriptions.source, store);
    return this.addResult(this.addResponses(answers));
  }

  private addSubscriptions(): { readonly source: GraphNode; readonly serde: Serde<Subscription<K>> } {
    const { graph } = this.context;
    const { leftTable, rightTable, options, given } = this;
    const topic = this.topic('-subscription-registration', prefix.subscriptionRegistration);
    const send = operatorNode(
      graph.suffixedOr(given, '-subscription-registration-processor', prefix.subscriptionRegistration),
      foreignKeySendOperator({
        foreignKey: options.foreignKey,
        foreignKeySerde: rightTable.keySerde,
        valueSerde: leftTable.valueSerde,
        left: this.left,
        versioned: leftTable.view.versioned,
      }),
    );
    graph.add(send, [leftTable.node]);
    const serde = subscriptionSerde(leftTable.keySerde);
    const ends = { topic, keySerde: rightTable.keySerde, valueSerde: serde };
    const sink = internalSinkNode({
      ...ends,
      name: graph.suffixedOr(given, '-subscription-registration-sink', prefix.tableSink),
      partitioner: options.otherPartitioner === undefined ? null : onePartition(options.otherPartitioner),
    });
    graph.add(sink, [send]);
    const source = internalSourceNode({ ...ends, name: graph.suffixedOr(given, '-subscription-registration-source', prefix.tableSource) });
    graph.add(source, [sink]);
    graph.copartition([...rightTable.sources, source.name]);
    return { source, serde };
  }

  private addSubscriptionStore(serde: Serde<Subscription<K>>): StoreSpec {
    const { graph } = this.context;
    const store: StoreSpec = Object.freeze({
      name: graph.suffixedOr(this.given, '-subscription-store', prefix.subscriptionStore),
      kind: 'timestampedKeyValue',
      keySerde: bytesSerde,
      valueSerde: serde,
      engine: this.options.materialized?.engine ?? null,
      logged: true,
      changelogConfigs: Object.freeze({}),
    });
    graph.add(stateStoreNode(store));
    return store;
  }

  private addAnswering(source: GraphNode, store: StoreSpec): GraphNode[] {
    const { graph } = this.context;
    const { rightTable, given } = this;
    const common = { storeName: store.name, foreignKeySerde: rightTable.keySerde, primaryKeySerde: this.leftTable.keySerde };
    const subscribe = operatorNode(
      graph.suffixedOr(given, '-subscription-receive', prefix.subscriptionProcessor),
      foreignKeySubscribeOperator(common),
      { stores: [store.name] },
    );
    graph.add(subscribe, [source]);
    const rows = rightTable.view.getter();
    const answer = operatorNode(
      graph.suffixedOr(given, '-subscription-join-foreign', prefix.subscriptionProcessor),
      foreignKeyAnswerOperator(rows),
      { stores: rows.stores, after: [rightTable.node] },
    );
    graph.add(answer, [subscribe]);
    const propagate = operatorNode(
      graph.suffixedOr(given, '-foreign-join-subscription', prefix.subscriptionProcessor),
      foreignKeyPropagateOperator({ ...common, versioned: rightTable.view.versioned }),
      { stores: [store.name] },
    );
    graph.add(propagate, [rightTable.node]);
    return [answer, propagate];
  }

  private addResponses(answers: readonly GraphNode[]): GraphNode {
    const { graph } = this.context;
    const { leftTable, given } = this;
    const topic = this.topic('-subscription-response', prefix.subscriptionResponse);
    const ends = { topic, keySerde: leftTable.keySerde, valueSerde: subscriptionResponseSerde(this.rightTable.valueSerde) };
    const sink = internalSinkNode({
      ...ends,
      name: graph.suffixedOr(given, '-subscription-response-sink', prefix.tableSink),
      partitioner: toPrimaryPartition,
    });
    graph.add(sink, answers);
    const source = internalSourceNode({ ...ends, name: graph.suffixedOr(given, '-subscription-response-source', prefix.tableSource) });
    graph.add(source, [sink]);
    graph.copartition([...leftTable.sources, source.name]);
    return source;
  }

  private addResult(responses: GraphNode): KTable<K, VR> {
    const { graph } = this.context;
    const { leftTable, given } = this;
    const { materialized, emit } = this.options;
    const rows = leftTable.view.getter();
    const resolve = operatorNode(
      graph.suffixedOr(given, '-subscription-response-resolver', prefix.subscriptionResolver),
      foreignKeyResolveOperator({ table: rows, valueSerde: leftTable.valueSerde, joiner: this.joiner, left: this.left }),
      { stores: rows.stores, after: [leftTable.node] },
    );
    graph.add(resolve, [responses]);
    const name = graph.suffixedOr(given, '-result', prefix.foreignKeyOutput);
    const keySerde = serdeOf(materialized?.keySerde) ?? leftTable.keySerde;
    const valueSerde = serdeOf(materialized?.valueSerde) ?? null;
    const store = tableStore(graph, prefix.foreignKeyOutput, materialized, { keySerde, valueSerde }, this.options);
    const node = streamToTableNode({ name, store, emit: emit ?? null, late: null });
    graph.add(node, [resolve]);
    const sources = [...new Set([...leftTable.sources, responses.name])];
    const view = storedView<K, VR>(graph, node);
    return this.context.table({ name, keySerde, valueSerde, sources, queryableStoreName: materialized?.storeName ?? null, node, view });
  }

  private topic(suffix: string, namePrefix: string): string {
    return checkResourceName(`${this.context.graph.suffixedOr(this.given, suffix, namePrefix)}${topicSuffix}`, 'internal topic');
  }
}

/** The row that a subscription asks for lies in one partition (as in Kafka Streams, an array of one is taken for it). */
function onePartition(partitioner: Partitioner): Partitioner {
  return Object.freeze({
    partition: (...of: Parameters<Partitioner['partition']>): number | null => {
      const chosen = partitioner.partition(...of);
      if (typeof chosen !== 'object' || chosen === null) return chosen;
      const [only] = chosen;
      if (chosen.length === 1 && only !== undefined) return only;
      throw new MillraceError('MILL_PRODUCTION', `otherPartitioner of a join by foreign key must give one partition, not ${chosen.length}`);
    },
  });
}

/** An answer goes to the partition that asked, wherever the left table's own partitioning put its row. */
const toPrimaryPartition: Partitioner = Object.freeze({
  partition: (_topic: string, _key: unknown, value: unknown): number | null =>
    (value as SubscriptionResponse<unknown> | null)?.primaryPartition ?? null,
});
