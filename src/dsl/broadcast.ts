/** Broadcast streams in the graph: the topic that carries them to all tasks, and the operators that take them beside records of the data. */
import { checkOptions, requireOptions } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';
import { broadcastOperator } from '../processors/broadcast/broadcast-operator.js';
import { broadcastSideOperator } from '../processors/broadcast/broadcast-side.js';
import type { BroadcastStateStore } from '../processors/broadcast/broadcast-states.js';
import { keyedBroadcastOperator } from '../processors/broadcast/keyed-broadcast-operator.js';
import { checkedSupplier } from '../processors/checked-supplier.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { checkStateNames, type AnyStateDescriptor, type MapStateDescriptor } from '../processors/state/state-descriptor.js';
import type { StoreSpec } from '../stores/store.js';
import { checkResourceName } from '../topology/resource-name.js';
import type {
  BroadcastConnectedStream,
  BroadcastOptions,
  BroadcastProcessOptions,
  BroadcastStream,
  KeyedBroadcastConnectedStream,
  KeyedBroadcastProcessOptions,
} from './broadcast-stream.js';
import { checkedName } from './checked-name.js';
import type { DslContext, StreamState } from './dsl-context.js';
import { broadcastNode, type BroadcastNode } from './graph/broadcast-node.js';
import { connectedNode } from './graph/connected-node.js';
import type { GraphNode } from './graph/graph-node.js';
import { operatorNode } from './graph/operator-node.js';
import type { GroupedState } from './grouped-state.js';
import { keyedStateStore } from './keyed-state-store.js';
import { addOperatorStates, storeNamesOf } from './operator-state-stores.js';
import type { KStream } from './kstream.js';
import { shapes } from './option-shapes.js';
import type { RecordOptions } from './options.js';
import { prefix } from './prefixes.js';
import { serdeOf } from '../serdes/serde-for.js';

/** What a broadcast stream is: its handle shows nothing of it. */
export interface BroadcastFields {
  readonly context: DslContext;
  readonly node: BroadcastNode;
  readonly parent: GraphNode;
  readonly states: readonly MapStateDescriptor<unknown, unknown>[];
}

const known = new WeakMap<object, BroadcastFields>();

/** The topic is made with the first operator that reads it. */
export function broadcastStream<K, V>(
  context: DslContext,
  state: StreamState<K, V>,
  options: BroadcastOptions<K, V>,
): BroadcastStream<K, V> {
  requireOptions('broadcast', options, shapes.broadcast);
  const { graph } = context;
  const namedAfter = graph.nameOr(checkedName(options), prefix.broadcast);
  const states = checkedStates(namedAfter, options.states);
  const topic = checkResourceName(`${namedAfter}-broadcast-repartition`, 'broadcast topic');
  const node = broadcastNode({
    name: `${topic}-source`,
    topic,
    sinkName: `${topic}-sink`,
    keySerde: serdeOf(options.keySerde) ?? state.keySerde,
    valueSerde: serdeOf(options.valueSerde) ?? state.valueSerde,
    namedAfter,
  });
  const stream: BroadcastStream<K, V> = Object.freeze({ kind: 'broadcast' });
  known.set(stream, { context, node, parent: state.node, states });
  return stream;
}

export function connectKeyed<K, V, KB, VB>(
  context: DslContext,
  grouped: GroupedState<K, V>,
  broadcast: BroadcastStream<KB, VB>,
): KeyedBroadcastConnectedStream<K, V, KB, VB> {
  const fields = fieldsOf(context, broadcast);
  return Object.freeze<KeyedBroadcastConnectedStream<K, V, KB, VB>>({
    process: <KR, VR>(supplier: unknown, options: KeyedBroadcastProcessOptions<KR, VR> = {}): KStream<KR, VR> => {
      checkOptions('process', options, shapes.keyedProcess);
      const { graph } = context;
      const given = checkedName(options);
      const name = graph.nameOr(given, prefix.broadcastProcess);
      const checked = checkedTaker(name, supplier);
      const storeName = given === undefined ? graph.newStoreName(prefix.broadcastProcess) : `${given}-state`;
      const { states = [] } = options;
      const store = keyedStateStore(storeName, name, grouped.fields.keySerde, states);
      const input = grouped.inputFor(graph, storeName);
      const broadcastStores = storesOf(name, fields);
      const operatorStates = addOperatorStates(graph, name, options.operatorStates, states);
      const made = keyedBroadcastOperator(checked as never, { storeName, states, broadcast: broadcastStores, operatorStates });
      return addConnected(
        context,
        fields,
        input,
        {
          name,
          supplier: made,
          stores: [store, ...broadcastStores.map(({ spec }) => spec)],
          usedStores: storeNamesOf(operatorStates),
        },
        options,
      );
    },
  });
}

export function connectStream<K, V, KB, VB>(
  context: DslContext,
  state: StreamState<K, V>,
  broadcast: BroadcastStream<KB, VB>,
): BroadcastConnectedStream<K, V, KB, VB> {
  const fields = fieldsOf(context, broadcast);
  return Object.freeze<BroadcastConnectedStream<K, V, KB, VB>>({
    process: <KR, VR>(supplier: unknown, options: BroadcastProcessOptions<KR, VR> = {}): KStream<KR, VR> => {
      checkOptions('process', options, shapes.broadcastProcess);
      const name = context.graph.nameOr(checkedName(options), prefix.broadcastProcess);
      const checked = checkedTaker(name, supplier);
      const stores = storesOf(name, fields);
      const operatorStates = addOperatorStates(context.graph, name, options.operatorStates);
      const made = broadcastOperator(checked as never, stores, operatorStates);
      const input = { parent: state.node, sources: state.sources };
      return addConnected(
        context,
        fields,
        input,
        { name, supplier: made, stores: stores.map(({ spec }) => spec), usedStores: storeNamesOf(operatorStates) },
        options,
      );
    },
  });
}

interface ConnectedOperator {
  readonly name: string;
  readonly supplier: OperatorSupplier;
  readonly stores: readonly StoreSpec[];
  readonly usedStores: readonly string[];
}

function addConnected<KR, VR>(
  context: DslContext,
  { node: topic, parent }: BroadcastFields,
  input: { readonly parent: GraphNode; readonly sources: readonly string[] },
  operator: ConnectedOperator,
  options: RecordOptions<KR, VR>,
): KStream<KR, VR> {
  const { graph } = context;
  const keySerde = serdeOf(options.keySerde) ?? null;
  const valueSerde = serdeOf(options.valueSerde) ?? null;
  const { sources } = input;
  graph.add(topic, [parent]);
  const side = operatorNode(`${operator.name}-broadcast`, broadcastSideOperator());
  graph.add(side, [topic]);
  const node = connectedNode({ ...operator, usesEventTime: true });
  graph.add(node, [input.parent, side]);
  // As many partitions as the data has: each of its tasks has one, with all broadcast records in it.
  graph.copartition([...sources, topic.name]);
  return context.stream<KR, VR>({ name: operator.name, keySerde, valueSerde, sources, repartitionRequired: true, node });
}

interface StoredBroadcast extends BroadcastStateStore {
  readonly spec: StoreSpec;
}

function storesOf(operator: string, { states }: BroadcastFields): StoredBroadcast[] {
  return states.map((descriptor) => {
    const storeName = checkResourceName(`${operator}-broadcast-${descriptor.name}`, 'store');
    const spec = Object.freeze<StoreSpec>({
      name: storeName,
      kind: 'timestampedKeyValue',
      rows: 'everywhere',
      keySerde: descriptor.keySerde,
      valueSerde: descriptor.serde,
      engine: null,
      logged: true,
      changelogConfigs: Object.freeze({}),
    });
    return { descriptor, storeName, spec };
  });
}

function fieldsOf(context: DslContext, broadcast: unknown): BroadcastFields {
  const fields = typeof broadcast === 'object' && broadcast !== null ? known.get(broadcast) : undefined;
  if (fields?.context === context) return fields;
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    'connect takes a broadcast stream of the same StreamsBuilder: `stream.broadcast({ name, states })`.',
  );
}

function checkedStates(name: string, states: unknown): MapStateDescriptor<unknown, unknown>[] {
  const refusal = (what: string): MillraceError =>
    new MillraceError('MILL_TOPOLOGY_INVALID', `broadcast ${name}: ${what}.`, { details: { broadcast: name } });
  if (!Array.isArray(states) || states.length === 0) throw refusal('`states` must name at least one state, made by `mapState`');
  for (const state of states as readonly (Partial<AnyStateDescriptor> | null)[]) {
    if (state?.kind !== 'map')
      throw refusal(`\`states\` must be made by \`mapState\`; ${typeof state?.name === 'string' ? state.name : 'something else'} is not`);
    if (state.ttl !== null && state.ttl !== undefined) {
      throw refusal(
        `state ${String(state.name)} has a time to live, which broadcast state can’t have: each task would drop an entry at a time of its own. Let a broadcast record remove it`,
      );
    }
  }
  checkStateNames(name, states as readonly AnyStateDescriptor[]);
  return states as MapStateDescriptor<unknown, unknown>[];
}

function checkedTaker(name: string, supplier: unknown): () => object {
  const checked = checkedSupplier(name, supplier as () => object);
  const { processBroadcast } = checked() as { readonly processBroadcast?: unknown };
  if (typeof processBroadcast === 'function') return checked;
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `Processor ${name} has no method \`processBroadcast\` for the records of the broadcast stream.`,
    {
      details: { node: name },
    },
  );
}
