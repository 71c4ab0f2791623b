/** The window join and its general form: both sides of a key in one window, all at once. The window operator does the work, over records that know their side. */
import { Sided, sideOfOperator } from '../processors/event-time/join-side.js';
import { windowOperator } from '../processors/event-time/window-operator.js';
import { resultAtOnce, resultsAtOnce } from '../processors/result-at-once.js';
import { eventTimeTrigger, processingTimeTrigger } from '../processors/windowing/triggers/time-triggers.js';
import { listedContents } from '../processors/windowing/window-contents.js';
import type { WindowInfo } from '../processors/windowing/window-context.js';
import { checkWindows, windowStates, type WindowDefinition } from '../processors/windowing/window-engine.js';
import { MillraceError } from '../errors.js';
import { serdes } from '../serdes/serdes.js';
import { inPlaceSerde } from '../serdes/in-place-serde.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import type { Windowed } from '../time/windowed.js';
import type { WindowAssigner } from '../time/windowing/window-assigner.js';
import { requireLateness } from './checked-arguments.js';
import type { DslContext } from './dsl-context.js';
import type { GroupedState } from './grouped-state.js';
import type { SideOutputLate, WindowJoinedAndLate, WindowJoinKind, WindowJoinOptions } from './keyed-stream.js';
import type { KStream } from './kstream.js';
import { prefix } from './prefixes.js';
import { addTwoSidedJoin } from './two-sided.js';
import { windowedKeySerde } from './windowed-keys.js';
import { serialized } from '../serdes/serialized.js';

type CoGroupFunction<K, L, R, O> = (key: K, lefts: readonly L[], rights: readonly R[], info: WindowInfo) => readonly O[];

/** @throws MILL_TOPOLOGY_INVALID when the windows never end */
export function addCoGroup<K, L, R, O>(
  context: DslContext,
  what: string,
  left: GroupedState<K, L>,
  right: GroupedState<K, R>,
  assigner: WindowAssigner<L | R>,
  apply: CoGroupFunction<K, L, R, O>,
  options: Omit<WindowJoinOptions<O>, 'kind'> & Partial<SideOutputLate>,
): KStream<Windowed<K>, O> | WindowJoinedAndLate<K, L, R, O> {
  const { allowedLateness = 0 } = options;
  requireLateness(allowedLateness);
  if (assigner.defaultTrigger === 'never')
    throw new MillraceError('MILL_TOPOLOGY_INVALID', `${what}: windows that never end (${assigner.name}) would give no result.`);
  const definition: WindowDefinition<K, Sided<L | R>, readonly Sided<L | R>[], O> = {
    assigner: { ...assigner, assign: ({ value }, timestamp, now) => assigner.assign(value, timestamp, now) },
    trigger: assigner.defaultTrigger === 'event' ? eventTimeTrigger() : processingTimeTrigger(),
    allowedLateness,
    contents: listedContents(sidedSerde(left.fields.valueSerde, right.fields.valueSerde)),
    apply: (key, values, info) => {
      const lefts: L[] = [];
      const rights: R[] = [];
      for (const { side, value } of values) {
        if (side === 'left') lefts.push(value as L);
        else rights.push(value as R);
      }
      return resultsAtOnce(`${what}: the function`, apply(key, lefts, rights, info));
    },
  };
  checkWindows(definition);
  const states = windowStates<Sided<L | R>>(definition as never);
  const { results, late, keySerde } = addTwoSidedJoin<K, L, R>(context, {
    prefix: prefix.windowJoin,
    options,
    states,
    inEventTime: assigner.time === 'event',
    takesNull: false,
    left,
    right,
    supplierOf: (storeName, children) =>
      windowOperator({
        storeName,
        states,
        definition,
        sides: children === null ? null : { results: children.results, late: [children.left, children.right] },
      }),
    lateOperator: sideOfOperator,
  });
  const ofKey = assigner.size === null ? null : windowedKeySerde(keySerde, assigner.size);
  const joined = results<Windowed<K>, O>(ofKey, serdeOf(options.valueSerde) ?? null);
  return late === null ? joined : { results: joined, ...late };
}

/** Each pair of a window; of the sides that the kind keeps also what has no partner in it. */
export function pairsOf<K, L, R, O>(
  kind: WindowJoinKind,
  joiner: (left: L | null, right: R | null, key: K, info: WindowInfo) => O,
): CoGroupFunction<K, L, R, O> {
  const joined = (left: L | null, right: R | null, key: K, info: WindowInfo): O =>
    resultAtOnce('windowJoin: the joiner', joiner(left, right, key, info));
  const keepsLeft = kind === 'left' || kind === 'full';
  const keepsRight = kind === 'right' || kind === 'full';
  return (key, lefts, rights, info) => {
    if (rights.length === 0) return keepsLeft ? lefts.map((left) => joined(left, null, key, info)) : [];
    if (lefts.length === 0) return keepsRight ? rights.map((right) => joined(null, right, key, info)) : [];
    return lefts.flatMap((left) => rights.map((right) => joined(left, right, key, info)));
  };
}

/** A byte that is 1 for the left side, then the value. */
function sidedSerde<L, R>(left: Serde<L> | null, right: Serde<R> | null): Serde<Sided<L | R>> {
  const of = { left: (left ?? serdes.json<L>()) as Serde<L | R>, right: (right ?? serdes.json<R>()) as Serde<L | R> };
  return inPlaceSerde<Sided<L | R>>({
    name: `sided(${of.left.name}, ${of.right.name})`,
    encode: ({ side, value }, out) => {
      out.writeByte(side === 'left' ? 1 : 0);
      out.writeBytes(serialized(of[side], value));
    },
    decode: (buffer, start, end) => {
      const side = buffer[start] === 1 ? 'left' : 'right';
      return new Sided(side, of[side].deserialize(Buffer.from(buffer.subarray(start + 1, end))) as L | R);
    },
  });
}
