import { MillraceError } from '../errors.js';
import { joinWindowWriterOperator } from '../processors/join-window-writer.js';
import { streamSelfJoinOperator } from '../processors/stream-self-join.js';
import { streamStreamJoinOperator } from '../processors/stream-stream-join.js';
import type { TableJoinKind } from '../processors/table-table-join.js';
import type { RowJoiner } from '../processors/user-functions.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import { sidedValuesSerde } from '../serdes/sided-values.js';
import type { StoreSpec } from '../stores/store.js';
import { JoinWindows } from '../time/join-windows.js';
import { checkResourceName } from '../topology/resource-name.js';
import { checkedName } from './checked-name.js';
import type { DslContext, StreamState } from './dsl-context.js';
import { operatorNode, type OperatorNode } from './graph/operator-node.js';
import { streamStreamJoinNode } from './graph/stream-stream-join-node.js';
import type { KStream } from './kstream.js';
import { addLateOutput, lateTarget } from './late-output.js';
import type { LateOption, StreamJoinOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { StreamRepartition } from './stream-repartition.js';

/** A stream as it takes part in a join. */
export interface JoinInput<K, V> {
  readonly state: StreamState<K, V>;
  readonly repartition: StreamRepartition<K, V>;
}

/**
 * Joins two streams. The order of names is Kafka Streams': repartitions left and right, windowed nodes, both sides, merge; stores are named after the sides whether or not those were
 * given names.
 */
export function joinStreams<K, V, VO, VR>(
  context: DslContext,
  leftInput: JoinInput<K, V>,
  rightInput: JoinInput<K, VO>,
  kind: TableJoinKind,
  joiner: RowJoiner<K, V, VO, VR>,
  options: StreamJoinOptions<K, V, VO, VR>,
): KStream<K, VR> {
  const { graph } = context;
  const { windows } = options;
  const keySerde = serdeOf(options.keySerde);
  if (!(windows instanceof JoinWindows)) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `The join of ${leftInput.state.name} with ${rightInput.state.name} needs \`windows\`: see joinWindows.`,
    );
  }
  const given = checkedName(options);
  const left = leftInput.repartition.forJoin(given && `${given}-left`, keySerde, serdeOf(options.leftValueSerde));
  const right = rightInput.repartition.forJoin(given && `${given}-right`, keySerde, serdeOf(options.rightValueSerde));
  const sources = [...new Set([...left.sources, ...right.sources])];
  graph.copartition(sources);
  const [outerThis, outerOther] = [kind === 'outer', kind !== 'inner'];
  const thisSuffix = outerThis ? '-outer-this-join' : '-this-join';
  const otherSuffix = outerOther ? '-outer-other-join' : '-other-join';
  const thisWindowed = graph.suffixedOr(given, '-this-windowed', prefix.windowed);
  const otherWindowed = graph.suffixedOr(given, '-other-windowed', prefix.windowed);
  const thisGenerated = graph.newName(outerThis ? prefix.outerThis : prefix.joinThis);
  const otherGenerated = graph.newName(outerOther ? prefix.outerOther : prefix.joinOther);
  const name = graph.suffixedOr(given, '-merge', prefix.merge);
  const storeName = (suffix: string, generated: string): string => {
    const base = options.storeName === undefined ? generated : `${options.storeName}${suffix}`;
    return graph.derivedName(checkResourceName(`${base}-store`, 'store'), options.storeName === undefined);
  };
  const leftSerdes = { keySerde: keySerde ?? left.keySerde, valueSerde: serdeOf(options.leftValueSerde) ?? left.valueSerde };
  const rightSerdes = { keySerde: keySerde ?? right.keySerde, valueSerde: serdeOf(options.rightValueSerde) ?? right.valueSerde };
  const leftStore = recordStore(storeName(thisSuffix, thisGenerated), leftSerdes, options);
  const rightStore = recordStore(storeName(otherSuffix, otherGenerated), rightSerdes, options);
  const { late } = options;
  const lateLeft = typeof late === 'object' ? late.left : late;
  const lateRight = typeof late === 'object' ? late.right : late;
  const leftWindowed = addWindowed(context, thisWindowed, leftStore, left, lateLeft);
  const rightWindowed = addWindowed(context, otherWindowed, rightStore, right, lateRight);
  const sharedGenerated = `${prefix.outerShared}${thisGenerated.slice(-10)}`;
  const sharedName = storeName(outerThis ? '-outer-shared-join' : '-left-shared-join', sharedGenerated);
  const unmatched = outerOther ? unmatchedStore(sharedName, leftSerdes, rightSerdes.valueSerde, options) : null;
  const common = { windows, joiner, unmatchedStoreName: unmatched?.name ?? null };
  const node = streamStreamJoinNode({
    name,
    left: {
      name: given === undefined ? thisGenerated : `${given}${thisSuffix}`,
      supplier: streamStreamJoinOperator({ ...common, side: 'left', otherStoreName: rightStore.name, outer: outerOther }),
      windowed: leftWindowed,
      store: leftStore,
    },
    right: {
      name: given === undefined ? otherGenerated : `${given}${otherSuffix}`,
      supplier: streamStreamJoinOperator({ ...common, side: 'right', otherStoreName: leftStore.name, outer: outerThis }),
      windowed: rightWindowed,
      store: rightStore,
    },
    unmatched,
    selfJoin: streamSelfJoinOperator({ storeName: leftStore.name, windows, joiner }),
    acceptsNullKeys: outerOther,
  });
  graph.add(node, [left.node, right.node]);
  return context.stream<K, VR>({
    name,
    keySerde: keySerde ?? left.keySerde,
    valueSerde: serdeOf(options.valueSerde) ?? null,
    sources,
    repartitionRequired: false,
    node,
  });
}

function addWindowed<K, V>(
  context: DslContext,
  name: string,
  store: StoreSpec,
  input: StreamState<K, V>,
  late: LateOption<K, V> | undefined,
): OperatorNode {
  const node = operatorNode(name, joinWindowWriterOperator(store.name, lateTarget(late, store.name)));
  context.graph.add(node, [input.node]);
  addLateOutput(context, late, store.name, [node], {
    keySerde: store.keySerde as Serde<K> | null,
    valueSerde: store.valueSerde as Serde<V> | null,
    sources: input.sources,
  });
  return node;
}

type StoreFields = Pick<StreamJoinOptions<unknown, unknown, unknown, unknown>, 'windows' | 'engine' | 'logged' | 'changelogConfigs'>;

interface SideSerdes<K, V> {
  readonly keySerde: Serde<K> | null;
  readonly valueSerde: Serde<V> | null;
}

/** Records of equal key and time are all kept, under keys of their own: compaction would have nothing to do. */
function recordStore<K, V>(name: string, serdes: SideSerdes<K, V>, options: StoreFields): StoreSpec {
  const { windows } = options;
  return Object.freeze({
    ...commonSpec(name, options),
    ...serdes,
    kind: 'joinWindow',
    windowSize: windows.size,
    retention: windows.size + windows.grace,
    changelogConfigs: Object.freeze({ ...options.changelogConfigs, 'cleanup.policy': 'delete' }),
  });
}

function unmatchedStore<K>(
  name: string,
  { keySerde, valueSerde }: SideSerdes<K, unknown>,
  otherValueSerde: Serde<unknown> | null,
  options: StoreFields,
): StoreSpec {
  return Object.freeze({
    ...commonSpec(name, options),
    kind: 'timeOrderedBuffer',
    keySerde,
    valueSerde: sidedValuesSerde(valueSerde, otherValueSerde),
    changelogConfigs: Object.freeze({ ...options.changelogConfigs }),
  });
}

function commonSpec(name: string, { engine, logged = true }: StoreFields): Pick<StoreSpec, 'name' | 'engine' | 'logged'> {
  return { name, engine: engine ?? null, logged };
}
