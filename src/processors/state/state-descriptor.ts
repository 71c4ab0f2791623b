/**
 * What a keyed state is: its name within the operator, its serde, its default or aggregate, its time to live. Plain frozen data, made by `valueState`,
 * `listState`, `mapState`, `reducingState` and `aggregatingState`, and declared with the operator, so that a name given twice fails when the topology is built.
 */
import { MillraceError } from '../../errors.js';
import {
  anyObject,
  anything,
  callback,
  objectWith,
  requireArgument,
  requireOptions,
  serde,
  text,
  type OptionShape,
  type ShapeOf,
} from '../../errors/checked-options.js';
import type { Serde } from '../../serdes/serde.js';
import { serdes } from '../../serdes/serdes.js';
import { resultAtOnce } from '../result-at-once.js';
import { aggregateAtOnce } from './aggregate-at-once.js';
import type { AggregateFunction } from './aggregate-function.js';
import { checkedTtl, type StateTtl } from './state-ttl.js';

interface DescriptorBase {
  readonly name: string;
  readonly ttl: StateTtl | null;
}

/** Made by `valueState`. */
export interface ValueStateDescriptor<V> extends DescriptorBase {
  readonly kind: 'value';
  readonly serde: Serde<V>;
  readonly defaultValue: V | null;
}

/** Made by `listState`. */
export interface ListStateDescriptor<V> extends DescriptorBase {
  readonly kind: 'list';
  readonly serde: Serde<V>;
}

/** Made by `mapState`. */
export interface MapStateDescriptor<UK, UV> extends DescriptorBase {
  readonly kind: 'map';
  readonly keySerde: Serde<UK>;
  readonly serde: Serde<UV>;
}

/** Made by `reducingState`. */
export interface ReducingStateDescriptor<V> extends DescriptorBase {
  readonly kind: 'reducing';
  readonly serde: Serde<V>;
  /** Combines what is there with what is added. */
  readonly reduce: (a: V, b: V) => V;
}

/** Made by `aggregatingState`. */
export interface AggregatingStateDescriptor<In, Acc, Out> extends DescriptorBase {
  readonly kind: 'aggregating';
  /** Of the accumulator. */
  readonly serde: Serde<Acc>;
  readonly aggregate: AggregateFunction<In, Acc, Out>;
}

/** A descriptor of any kind and type. `never` in the places of functions' parameters lets each one in. */
export type StateDescriptor =
  | ValueStateDescriptor<unknown>
  | ListStateDescriptor<unknown>
  | MapStateDescriptor<unknown, unknown>
  | ReducingStateDescriptor<unknown>
  | AggregatingStateDescriptor<unknown, unknown, unknown>;

/** Any descriptor as a parameter: its types are not looked at. */
export interface AnyStateDescriptor {
  readonly kind: StateDescriptor['kind'];
  readonly name: string;
  readonly ttl: StateTtl | null;
}

/** What all states take. */
export interface StateOptions<V> {
  /** Default: JSON. */
  readonly serde?: Serde<V>;
  /** Time to live of each value. Default: for ever. */
  readonly ttl?: StateTtl;
}

const shape = { serde, ttl: anyObject } satisfies ShapeOf<StateOptions<unknown>>;
const anAggregate = objectWith('an object with initial, add and result', 'initial', 'add', 'result');

/** One value a key. @example valueState<number>('last-login', { ttl: { ttl: 3_600_000 } }) */
export function valueState<V>(name: string, options: StateOptions<V> & { readonly defaultValue?: V } = {}): ValueStateDescriptor<V> {
  return Object.freeze({
    kind: 'value',
    ...base('valueState', name, options, { defaultValue: anything }),
    defaultValue: options.defaultValue ?? null,
  });
}

/** A list a key; each element has its own time to live. */
export function listState<V>(name: string, options: StateOptions<V> = {}): ListStateDescriptor<V> {
  return Object.freeze({ kind: 'list', ...base('listState', name, options) });
}

/**
 * A map a key; each entry has its own time to live. It is stored in rows of some 64 KiB and searched row by row: right for thousands of entries a key, not for a million.
 */
export function mapState<UK, UV>(
  name: string,
  options: StateOptions<UV> & { readonly keySerde?: Serde<UK> } = {},
): MapStateDescriptor<UK, UV> {
  return Object.freeze({
    kind: 'map',
    ...base('mapState', name, options, { keySerde: serde }),
    keySerde: options.keySerde ?? serdes.json<UK>(),
  });
}

/** One value a key, each new one combined with it. @example reducingState<number>('sum', { reduce: (a, b) => a + b }) */
export function reducingState<V>(
  name: string,
  options: StateOptions<V> & { readonly reduce: (a: V, b: V) => V },
): ReducingStateDescriptor<V> {
  const common = base('reducingState', name, options, { reduce: callback });
  requireArgument(`reducingState ${name}: reduce`, options.reduce, callback);
  const called = `reducingState ${name}: reduce`;
  const { reduce } = options;
  return Object.freeze({ kind: 'reducing', ...common, reduce: (a: V, b: V): V => resultAtOnce(called, reduce(a, b)) });
}

/** As `reducingState`, where values, accumulator and result have different types. `serde` is the accumulator's. */
export function aggregatingState<In, Acc, Out>(
  name: string,
  options: StateOptions<Acc> & { readonly aggregate: AggregateFunction<In, Acc, Out> },
): AggregatingStateDescriptor<In, Acc, Out> {
  const common = base('aggregatingState', name, options, { aggregate: anything });
  requireArgument(`aggregatingState ${name}: aggregate`, options.aggregate, anAggregate);
  return Object.freeze({ kind: 'aggregating', ...common, aggregate: aggregateAtOnce(`aggregatingState ${name}`, options.aggregate) });
}

const kinds: ReadonlySet<unknown> = new Set<StateDescriptor['kind']>(['value', 'list', 'map', 'reducing', 'aggregating']);

export function isStateDescriptor(given: unknown): given is AnyStateDescriptor {
  return typeof given === 'object' && given !== null && kinds.has((given as Partial<AnyStateDescriptor>).kind);
}

/** @throws MILL_TOPOLOGY_INVALID for what is no descriptor of state by key */
export function checkKeyedStates(operator: string, given: readonly AnyStateDescriptor[]): void {
  for (const state of given as readonly unknown[]) {
    if (isStateDescriptor(state)) continue;
    const isOperatorState = (state as { readonly kind?: unknown } | null)?.kind === 'operatorList';
    const what = isOperatorState ? 'operator state: name it in `operatorStates`' : 'something else';
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Operator ${operator}: \`states\` takes what valueState(…), listState(…) and the like give, not ${what}.`,
      { details: { operator } },
    );
  }
  checkStateNames(operator, given);
}

/** @throws MILL_TOPOLOGY_DUPLICATE_NAME when two states of an operator have one name */
export function checkStateNames(operator: string, descriptors: readonly { readonly name: string }[]): void {
  const seen = new Set<string>();
  for (const { name } of descriptors) {
    if (seen.has(name)) {
      throw new MillraceError('MILL_TOPOLOGY_DUPLICATE_NAME', `Operator ${operator} declares state ${name} twice.`, {
        details: { operator, state: name },
      });
    }
    seen.add(name);
  }
}

function base<V>(
  what: string,
  name: string,
  options: StateOptions<V>,
  more: OptionShape = {},
): { readonly name: string; readonly serde: Serde<V>; readonly ttl: StateTtl | null } {
  requireArgument(`${what}: the name`, name, text);
  requireOptions(`${what} ${name}`, options, { ...shape, ...more });
  checkStateName(name);
  return { name, serde: options.serde ?? serdes.json<V>(), ttl: options.ttl === undefined ? null : checkedTtl(name, options.ttl) };
}

/** The length of the name is one byte of each row. */
const longestName = 200;

/** @throws MILL_TOPOLOGY_INVALID */
export function checkStateName(name: string): void {
  if (/^[A-Za-z0-9._-]+$/.test(name) && name.length <= longestName) return;
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `A state can't be named “${name}”: letters, digits, “.”, “_” and “-” may be used, ${longestName} at most.`,
  );
}
