/** Cases `{ updateType, visibility, ttlMs, steps: [{ key, op, result } | { time }] }`, and the defaults of a time to live. */
import { KeyedStates } from '../../src/processors/state/keyed-states.js';
import { MemoryKeyedStateBackend } from '../../src/processors/state/memory-keyed-state-backend.js';
import { aggregatingState, listState, mapState, reducingState, valueState } from '../../src/processors/state/state-descriptor.js';
import type { StateTtl } from '../../src/processors/state/state-ttl.js';
import { list, number, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';
import { differs } from './shown.js';

export function ttlCase({ list: from, index, value }: CaseEntry): ConformanceCase | null {
  if (from === 'defaults' && 'ttlTimeCharacteristic' in value) return { name: `defaults[${index}]`, run: async () => checkDefaults(value) };
  if (!('ttlMs' in value && 'steps' in value)) return null;
  return { name: text(value, 'name'), run: async () => run(value) };
}

function run(value: JsonObject): string[] {
  const descriptors = descriptorsOf({ ttl: number(value, 'ttlMs'), update: updateOf(value), visibility: visibilityOf(value) });
  let now = 0;
  let backend = new MemoryKeyedStateBackend();
  return (list(value, 'steps') as readonly JsonObject[]).flatMap((step, at) => {
    if (typeof step.time === 'number') now = step.time;
    if (step.op === 'snapshot+restore') backend = new MemoryKeyedStateBackend(backend.snapshot());
    else if (typeof step.op === 'string') {
      backend.setCurrentKey(text(step, 'key'));
      const got = perform(new KeyedStates(backend, () => now), descriptors, step.op.split(' '));
      return differs(`step ${at}, ${step.op}`, step.result, got);
    }
    return [];
  });
}

type Descriptors = ReturnType<typeof descriptorsOf>;

function descriptorsOf(ttl: StateTtl) {
  return {
    value: valueState<string>('v', { ttl }),
    list: listState<string>('l', { ttl }),
    map: mapState<string, string>('m', { ttl }),
    reducing: reducingState<number>('r', { ttl, reduce: (a, b) => a + b }),
    aggregating: aggregatingState<number, number, string>('a', {
      ttl,
      aggregate: { initial: () => 0, add: (sum, each) => sum + each, result: (sum) => `=${sum}`, merge: (a, b) => a + b },
    }),
  };
}

function perform(states: KeyedStates, descriptors: Descriptors, [op = '', first = '', second = '']: string[]): Json {
  const value = states.state(descriptors.value);
  const elements = states.state(descriptors.list);
  const map = states.state(descriptors.map);
  const reducing = states.state(descriptors.reducing);
  const aggregating = states.state(descriptors.aggregating);
  const reads: Record<string, () => Json> = {
    'v.get': () => value.value(),
    'l.get': () => `[${elements.get().join(', ')}]`,
    'm.get': () => map.get(first),
    'm.has': () => map.has(first),
    'm.contains': () => map.has(first),
    'm.isEmpty': () => map.isEmpty(),
    'r.get': () => {
      const sum = reducing.get();
      return sum === null ? null : String(sum);
    },
    'a.get': () => aggregating.get(),
  };
  const writes: Record<string, () => void> = {
    'v.set': () => value.update(first === '' ? null : first),
    'v.clear': () => value.clear(),
    'l.add': () => elements.add(first),
    'l.addAll': () => elements.addAll(first.split(',')),
    'l.update': () => elements.update(first.split(',')),
    'l.clear': () => elements.clear(),
    'm.put': () => map.put(first, second),
    'm.remove': () => map.remove(first),
    'm.clear': () => map.clear(),
    'r.add': () => reducing.add(Number(first)),
    'r.clear': () => reducing.clear(),
    'a.add': () => aggregating.add(Number(first)),
    'a.clear': () => aggregating.clear(),
  };
  const read = reads[op];
  if (read !== undefined) return read();
  const write = writes[op];
  if (write === undefined) throw new Error(`there is no operation ${op}`);
  write();
  return 'ok';
}

function updateOf(value: JsonObject): NonNullable<StateTtl['update']> {
  const named = { OnCreateAndWrite: 'onCreateAndWrite', OnReadAndWrite: 'onReadAndWrite', Disabled: 'disabled' } as const;
  return named[text(value, 'updateType') as keyof typeof named];
}

function visibilityOf(value: JsonObject): NonNullable<StateTtl['visibility']> {
  const named = { NeverReturnExpired: 'neverReturnExpired', ReturnExpiredIfNotCleanedUp: 'returnExpiredIfNotCleanedUp' } as const;
  return named[text(value, 'visibility') as keyof typeof named];
}

/** A time to live with nothing said acts as one with Flink's defaults: renewed by writes and not by reads, by the wall clock, never shown expired. */
function checkDefaults(value: JsonObject): string[] {
  let now = 0;
  const states = new KeyedStates(new MemoryKeyedStateBackend(), () => now);
  const state = states.state(valueState<string>('v', { ttl: { ttl: 100 } }));
  state.update('a');
  now = 99;
  const before = state.value();
  now = 100;
  const after = state.value();
  return [
    ...differs('updateType', value.updateType, before === 'a' && after === null ? 'OnCreateAndWrite' : 'OnReadAndWrite'),
    ...differs('visibility', value.visibility, after === null ? 'NeverReturnExpired' : 'ReturnExpiredIfNotCleanedUp'),
    ...differs('ttlTimeCharacteristic', value.ttlTimeCharacteristic, 'ProcessingTime'),
  ];
}
