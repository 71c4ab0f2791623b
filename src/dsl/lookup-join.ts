import { MillraceError } from '../errors.js';
import { LookupWork, MissingRow, type Lookup, type LookupDefinition } from '../processors/lookup/lookup-work.js';
import type { LookupCacheRules } from '../processors/lookup/lookup-cache.js';
import { lookupRowSerde } from '../processors/lookup/lookup-row-serde.js';
import { defined } from '../processors/defined-result.js';
import type { TableJoiner } from '../processors/user-functions.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import { serdes } from '../serdes/serdes.js';
import type { StoreSpec } from '../stores/store.js';
import { addAsync } from './async.js';
import type { LookupCacheOptions, LookupJoinOptions } from './async-options.js';
import type { StreamState } from './dsl-context.js';
import type { AsyncNode } from './graph/async-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import { prefix } from './prefixes.js';

/** @throws MILL_TOPOLOGY_INVALID when an option is out of range */
export function addLookupJoin<K, V, KL, VL, VR>(
  graph: StreamGraph,
  stream: StreamState<K, V>,
  what: 'lookupJoin' | 'leftLookupJoin',
  lookup: Lookup<KL, VL>,
  joiner: TableJoiner<K, V, VL | null, VR>,
  options: LookupJoinOptions<K, V, KL, VL, VR>,
): AsyncNode {
  const { retryMissing = false, retry, cache } = options;
  if (retryMissing && retry === undefined)
    throw new MillraceError('MILL_TOPOLOGY_INVALID', `${what}: retryMissing needs retry, which says how often and when.`);
  const rules = cache === undefined ? null : cacheRules(what, cache);
  const rowSerde = serdeOf(cache?.valueSerde) ?? serdes.json<VL>();
  const keySerde = serdeOf(options.lookupKeySerde) ?? serdes.json<KL>();
  const definition: Omit<LookupDefinition<K, V, KL, VL, VR>, 'cache'> = {
    keyOf: (value, key) => options.keyOf(value, key),
    lookup,
    joiner: defined(`${what}: the joiner`, joiner),
    isLeft: what === 'leftLookupJoin',
    attemptsForRow: retryMissing ? (retry?.attempts ?? 1) : 1,
    keySerde,
  };
  const when = retry?.when ?? (() => true);
  const calls =
    retry === undefined
      ? options
      : {
          ...options,
          retry: {
            ...retry,
            when: (error: Error, attempt: number) => error instanceof MissingRow || (!isOfSerde(error) && when(error, attempt)),
          },
        };
  return addAsync(graph, stream, what === 'lookupJoin' ? prefix.lookupJoin : prefix.leftLookupJoin, calls, (nameOf) => {
    const storeName = nameOf('cache');
    return {
      work: () => new LookupWork({ ...definition, cache: rules === null ? null : { ...rules, storeName, valueSerde: rowSerde } }),
      stores: cache === undefined ? [] : [cacheStore(storeName, keySerde, lookupRowSerde(rowSerde))],
    };
  });
}

/** The row is there: to ask again would not make another serde of it. */
function isOfSerde(error: Error): boolean {
  return error instanceof MillraceError && error.code === 'MILL_SERDE';
}

function cacheStore<K, V>(name: string, keySerde: Serde<K>, valueSerde: Serde<V>): StoreSpec {
  return Object.freeze<StoreSpec>({
    name,
    kind: 'timestampedKeyValue',
    keySerde,
    valueSerde,
    engine: null,
    logged: true,
    changelogConfigs: Object.freeze({}),
  });
}

/** @throws MILL_TOPOLOGY_INVALID naming every option that is out of range */
function cacheRules(what: string, cache: Omit<LookupCacheOptions<unknown>, 'valueSerde'>): LookupCacheRules {
  const { ttl, missingTtl = ttl, maxRows = 10_000 } = cache;
  const faults: string[] = [];
  const whole = (option: string, value: unknown, least: number): void => {
    if (!Number.isSafeInteger(value) || (value as number) < least)
      faults.push(`cache.${option} must be a whole number of at least ${least}`);
  };
  if (ttl !== Infinity) whole('ttl', ttl, 1);
  if (missingTtl !== Infinity) whole('missingTtl', missingTtl, 0);
  whole('maxRows', maxRows, 1);
  if (faults.length > 0) throw new MillraceError('MILL_TOPOLOGY_INVALID', `${what}: ${faults.join('; ')}`, { details: { faults } });
  return { ttl, missingTtl, maxRows };
}
