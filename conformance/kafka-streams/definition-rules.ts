/**
 * The options of each operation of the vocabulary and what they may be. A definition that says something else is refused by name: a case whose topology
 * was only half understood would pass or fail for nothing.
 */
import { isList, isObject, NotBuiltError, text, type Json, type JsonObject } from '../case.js';

export type OptionRule = { readonly oneOf: readonly Json[] } | { readonly kind: keyof typeof kinds };

export type OptionRules = Readonly<Record<string, OptionRule>>;

const joinKinds: { readonly oneOf: readonly Json[] } = { oneOf: ['inner', 'left', 'outer'] };

const isNumber = (value: Json): boolean => typeof value === 'number';
const isText = (value: Json): boolean => typeof value === 'string';

const kinds = {
  number: isNumber,
  text: isText,
  texts: (value: Json) => isList(value) && value.every(isText),
  joins: (value: Json) => isList(value) && value.length > 0 && value.every((kind) => joinKinds.oneOf.includes(kind)),
  /** Milliseconds, or a text for no limit. */
  limit: (value: Json) => isNumber(value) || isText(value),
  store: (value: Json) => value === 'kv' || (isObject(value) && isNumber(value.versionedMs ?? null)),
  anyStore: (value: Json) => value === 'none' || kinds.store(value),
  window: (value: Json) => {
    const known = isObject(value) && typeof value.type === 'string' ? windowFields[value.type] : undefined;
    return known !== undefined && hasOnly(value as JsonObject, ['type', ...known]);
  },
  buffer: (value: Json) => isObject(value) && hasOnly(value, ['maxRecords', 'maxBytes', 'whenFull']),
  config: (value: Json) => isObject(value) && Object.keys(value).every((key) => knownConfigs.has(key)),
  stages: (value: Json) => isList(value) && value.every((stage) => isObject(stage) && isText(stage.do ?? null)),
} as const;

const windowFields: Readonly<Record<string, readonly string[]>> = {
  time: ['sizeMs', 'advanceMs', 'graceMs'],
  sliding: ['timeDifferenceMs', 'graceMs'],
  session: ['gapMs', 'graceMs'],
};

/** Those that change a topology, and those that change nothing of what a case compares. */
const knownConfigs: ReadonlySet<string> = new Set([
  'topology.optimization',
  'application.id',
  'bootstrap.servers',
  'default.key.serde',
  'default.value.serde',
  'processing.guarantee',
  'state.dir',
]);

const innerOrLeft: OptionRule = { oneOf: ['inner', 'left'] };
const flag: OptionRule = { oneOf: [true, false] };
const number: OptionRule = { kind: 'number' };
const joiner: OptionRule = { kind: 'text' };
const config: OptionRule = { kind: 'config' };
const store: OptionRule = { kind: 'store' };
const anyStore: OptionRule = { kind: 'anyStore' };

export const optionsOfOperations: Readonly<Record<string, OptionRules>> = {
  cogroup: { inputs: { kind: 'texts' }, separators: { kind: 'texts' }, init: { kind: 'text' } },
  merge: {},
  pipeline: { from: { oneOf: ['stream', 'table'] }, stages: { kind: 'stages' }, named: flag, leftStore: anyStore, tableStore: anyStore },
  'source-table': { tableStore: store },
  'stream-aggregate': { aggregate: { oneOf: ['count', 'reduce+', 'aggregate0+'] } },
  'stream-globaltable-join': {
    kind: innerOrLeft,
    joiner,
    tableStore: { oneOf: ['kv'] },
    keyMapper: { oneOf: ['text after the comma of the stream value, else null'] },
  },
  'stream-repartition': {},
  'stream-stream-join': {
    kind: joinKinds,
    joiner,
    beforeMs: number,
    afterMs: number,
    graceMs: number,
    self: flag,
    repartitionBoth: flag,
    joinResultAgainWithRight: flag,
  },
  'stream-table-join': { kind: innerOrLeft, joiner, tableStore: anyStore, repartitionLeft: flag, graceMs: number },
  'stream-to-table': {},
  'table-filter': { tableStore: anyStore, not: flag, predicate: { oneOf: ['value even'] } },
  'table-groupby-aggregate': {
    groupBy: { oneOf: ['same-key', 'value-as-key', 'value-as-key-keep-key', 'value-as-key-null-special', 'first-char-to-second-char'] },
    aggregate: { oneOf: ['count', 'aggregate0+-', 'concat-remove'] },
    tableStore: store,
  },
  'table-groupby-value-count-suppress': { timeLimitMs: { kind: 'limit' }, buffer: { kind: 'buffer' } },
  'table-suppress-groupby-count': { timeLimitMs: number },
  'table-table-fk-join': {
    kind: innerOrLeft,
    joiner,
    fk: { oneOf: ['after-bar', 'after-bar-or-null', 'null'] },
    leftStore: store,
    rightStore: store,
  },
  'table-table-join': {
    kinds: { kind: 'joins' },
    joiner,
    leftStore: store,
    rightStore: store,
    suppressLeftMs: number,
    suppressRightMs: number,
    unmaterialized: flag,
  },
  'window-aggregate': {
    window: { kind: 'window' },
    aggregate: { oneOf: ['count', 'reduce+', 'aggregate0+', "aggregate''+", 'aggregate0+merge+'] },
    emit: { oneOf: ['update', 'close'] },
    suppress: { oneOf: ['until-window-closes'] },
  },
};

/** @throws NotBuiltError that names what is not known */
export function checkDefinition(definition: JsonObject): void {
  const op = text(definition, 'op');
  const rules = optionsOfOperations[op];
  if (rules === undefined) throw new NotBuiltError(`operation ${op}`);
  for (const [option, value] of Object.entries(definition)) {
    if (option === 'op' || value === undefined) continue;
    const rule = option === 'config' ? config : rules[option];
    if (rule === undefined) throw new NotBuiltError(`option ${option} of ${op}`);
    if (!allows(rule, value)) throw new NotBuiltError(`${option} ${JSON.stringify(value)} of ${op}`);
  }
}

function allows(rule: OptionRule, value: Json): boolean {
  return 'oneOf' in rule ? rule.oneOf.includes(value) : kinds[rule.kind](value);
}

function hasOnly(value: JsonObject, known: readonly string[]): boolean {
  return Object.keys(value).every((field) => known.includes(field));
}
