/** The lists of `key-groups.json`: ranges, instances of key groups, hashes, defaults and refusals. */
import { flinkKeyGroup, flinkMurmur, javaLongHash, javaStringHash } from '../../src/rebalance/flink-key-hash.js';
import { defaultMaxParallelismFor, instanceOf, rangeFor } from '../../src/rebalance/key-groups.js';
import { number, text, type CaseEntry, type CaseForm, type ConformanceCase, type JsonObject } from '../case.js';
import { differs } from './shown.js';

type Check = (value: JsonObject) => string[];

const checks: Readonly<Record<string, Check>> = {
  rangePerOperatorIndex: (value) => {
    const [max, instances] = scale(value);
    const ranges = Array.from({ length: instances }, (_, instance) => rangeFor(max, instances, instance));
    return differs(
      'ranges',
      value.ranges,
      ranges.map(({ start, end }) => [start, end]),
    );
  },
  operatorIndexForKeyGroup: (value) => {
    const [max, instances] = scale(value);
    const got = Array.from({ length: max }, (_, group) => instanceOf(group, instances, max));
    return differs('instances', value.operatorIndexOfKeyGroup, got);
  },
  murmurHashOfKeyHash: (value) => {
    const hash = number(value, 'int32');
    return [
      ...differs('murmur', value.murmur, flinkMurmur(hash)),
      ...[128, 12, 32_768].flatMap((max) => differs(`kg${max}`, value[`kg${max}`], flinkKeyGroup(hash, max))),
    ];
  },
  stringKeys: (value) => {
    const hash = javaStringHash(text(value, 'key'));
    const group = flinkKeyGroup(hash, 128);
    return [
      ...differs('javaHashCode', value.javaHashCode, hash),
      ...[128, 12].flatMap((max) => differs(`kg${max}`, value[`kg${max}`], flinkKeyGroup(hash, max))),
      ...[3, 4].flatMap((instances) => differs(`op128p${instances}`, value[`op128p${instances}`], instanceOf(group, instances, 128))),
    ];
  },
  longKeys: (value) => {
    const hash = javaLongHash(BigInt(text(value, 'long')));
    return [...differs('javaHashCode', value.javaHashCode, hash), ...differs('kg128', value.kg128, flinkKeyGroup(hash, 128))];
  },
  defaultMaxParallelism: (value) => differs('default', value.defaultMaxParallelism, defaultMaxParallelismFor(number(value, 'parallelism'))),
  errors: (value) => {
    const [max, instances] = scale(value);
    try {
      rangeFor(max, instances, number(value, 'operatorIndex'));
      return ['expected an error'];
    } catch {
      return [];
    }
  },
};

export const keyGroupRow: CaseForm = ({ list, index, value }: CaseEntry): ConformanceCase | null => {
  const check = checks[list];
  if (check === undefined || !('maxParallelism' in value || 'parallelism' in value || 'javaHashCode' in value || 'murmur' in value))
    return null;
  return { name: `${list}[${index}]`, run: async () => check(value) };
};

function scale(value: JsonObject): [number, number] {
  return [number(value, 'maxParallelism'), number(value, 'parallelism')];
}
