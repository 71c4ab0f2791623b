import type { OperatorSupplier } from '../processors/operator.js';
import type { ProcessorNode } from './nodes.js';

export function processorNode(
  name: string,
  supplier: OperatorSupplier,
  stores: readonly string[],
  parents: readonly string[],
  children: readonly string[],
  { emitsAtOnce = false, isSide = false }: { readonly emitsAtOnce?: boolean; readonly isSide?: boolean } = {},
): ProcessorNode {
  return Object.freeze({
    kind: 'processor',
    name,
    supplier,
    stores: Object.freeze(stores.slice()),
    parents: Object.freeze(parents.slice()),
    children: Object.freeze(children.slice()),
    ...(emitsAtOnce ? { emitsAtOnce } : {}),
    ...(isSide ? { isSide } : {}),
  });
}
