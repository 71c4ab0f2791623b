/**
 * Finds stores and repartition topics with generated names: their numbers change when an operator is added before them, and the state under the
 * old name is then lost from sight (KIP-1111).
 */
import { MillraceError } from '../../errors.js';
import type { Logger } from '../../observability/logger.js';
import type { ExecutionMode } from '../../topology/nodes.js';
import type { StreamGraph } from './stream-graph.js';

/** What the names of a foreign-key join's topics end with. */
const topicSuffix = '-topic';

/** `require` refuses generated names of stores and internal topics, `warn` logs them, `off` takes them. */
export type ExplicitNames = 'require' | 'warn' | 'off';

/** @throws MILL_TOPOLOGY_NAME_REQUIRED naming every operator that lacks a name, when `names` is `require`. */
export function checkExplicitNames(graph: StreamGraph, mode: ExecutionMode, names: ExplicitNames, logger: Logger): void {
  if (names === 'off') return;
  const lacking = namesLacking(graph, mode);
  if (lacking.length === 0) return;
  const message = `Names are missing for: ${lacking.map(({ text }) => text).join('; ')}.`;
  if (names === 'require')
    throw new MillraceError('MILL_TOPOLOGY_NAME_REQUIRED', message, { details: { operators: lacking.map(({ operator }) => operator) } });
  logger.warn({ operators: lacking.map(({ operator }) => operator) }, message);
}

function namesLacking(graph: StreamGraph, mode: ExecutionMode): { readonly operator: string; readonly text: string }[] {
  const lacking: { readonly operator: string; readonly text: string }[] = [];
  for (const { node } of graph.links.values()) {
    if (node.kind === 'repartition' || node.kind === 'tableRepartition') {
      if (graph.isGenerated(node.namedAfter)) {
        lacking.push({
          operator: node.namedAfter,
          text: `repartition topic ${node.topic} (set \`name\` where the stream is grouped, joined, repartitioned or made a table)`,
        });
      }
    } else if (node.kind === 'broadcast') {
      if (graph.isGenerated(node.namedAfter))
        lacking.push({ operator: node.namedAfter, text: `broadcast topic ${node.topic} (set \`name\` of \`broadcast\`)` });
    } else if (node.kind === 'connected') {
      if (graph.isGenerated(node.name))
        lacking.push({
          operator: node.name,
          text: `stores ${node.stores.map(({ name }) => name).join(', ')} of ${node.name} (set \`name\`)`,
        });
    } else if (node.kind === 'streamStreamJoin') {
      const { left, right, unmatched } = node;
      for (const store of [left.store, right.store, ...(unmatched === null ? [] : [unmatched])]) {
        if (graph.isGenerated(store.name))
          lacking.push({ operator: node.name, text: `store ${store.name} of ${node.name} (set \`storeName\`)` });
      }
    } else if (node.kind === 'internalSink') {
      const generated = node.topic.slice(0, -topicSuffix.length);
      if (graph.isGenerated(generated))
        lacking.push({ operator: node.name, text: `internal topic ${node.topic} (set \`name\` of the foreign-key join)` });
    } else if (node.kind === 'stateStore') {
      if (graph.isGenerated(node.store.name)) lacking.push({ operator: node.name, text: `store ${node.store.name} (set \`name\`)` });
    } else if (node.kind === 'async') {
      if (graph.isGenerated(node.name))
        lacking.push({ operator: node.name, text: `store ${node.store.name} of ${node.name} (set \`name\`)` });
    } else if (node.kind === 'tableJoin') {
      if (node.buffer !== null && graph.isGenerated(node.name))
        lacking.push({ operator: node.name, text: `store ${node.buffer.name} of ${node.name} (set \`name\`)` });
    } else if (node.kind === 'operator') {
      if (mode === 'batch' && node.lastResults !== null && graph.isGenerated(node.name))
        lacking.push({ operator: node.name, text: `store ${node.lastResults.store.name} of ${node.name} (set \`name\` of \`toStream\`)` });
    } else if ('store' in node && node.store !== null && graph.isGenerated(node.store.name)) {
      const kept = node.kind === 'globalTable' || graph.isKept(node);
      const cure = node.kind === 'stateful' ? node.storeNamedBy : 'materialized.storeName';
      if (kept) lacking.push({ operator: node.name, text: `store ${node.store.name} of ${node.name} (set \`${cure}\`)` });
    }
  }
  return lacking;
}
