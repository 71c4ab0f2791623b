/** Cases `{ old, newParallelism, evenSplit, … }`: operator state given out anew. The order within lists is nobody's to rely on. */
import { splitEvenly, uniteForAll } from '../../src/rebalance/operator-state.js';
import { list, number, type CaseEntry, type ConformanceCase, type Json } from '../case.js';
import { differs } from './shown.js';

export function operatorStateCase({ list: from, index, value }: CaseEntry): ConformanceCase | null {
  if (!('evenSplitSizes' in value)) return null;
  return {
    name: `${from}[${index}]`,
    run: async () => {
      const old = list(value, 'old') as readonly (readonly Json[])[];
      const instances = number(value, 'newParallelism');
      const split = splitEvenly(old, instances);
      const united = uniteForAll(old, instances);
      return [
        ...differs(
          'sizes',
          value.evenSplitSizes,
          split.map((part) => part.length),
        ),
        ...differs('elements', old.flat().sort(), split.flat().sort()),
        ...united.flatMap((part, instance) => differs(`union of ${instance}`, value.unionEachSubtaskGetsAll, part.sort())),
      ];
    },
  };
}
