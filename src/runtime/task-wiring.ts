import type { Downstream, Operator } from '../processors/operator.js';
import { FanOut } from '../processors/fan-out.js';
import { NodeGuard, type ProcessingErrorHandler } from '../processors/node-guard.js';
import type { SubTopology, Topology, TopologyNode } from '../topology/nodes.js';
import { TaskFailures } from './failures.js';
import { NodeContext, type TaskScope } from './node-context.js';
import { SinkOperator } from './sink-operator.js';
import { SourceReader } from './source-reader.js';

/** The operators of one task, wired: what `wireTask` makes of a sub-topology. */
export interface WiredTask {
  readonly sources: ReadonlyMap<string, SourceReader>;
  /** In topological order, parents first. */
  readonly operators: readonly { readonly name: string; readonly operator: Operator }[];
  /** What stands in front of each processor node and says of an error whose fault it is. */
  readonly guards: ReadonlyMap<string, NodeGuard>;
  /** Sends the results of asynchronous operators, under the same guard. */
  readonly results: ReadonlyMap<string, Downstream>;
  /** Calls every operator's `init`, parents first. */
  init(): void;
}

/** Makes the operators of a sub-topology and connects each to its children by direct references. */
export function wireTask(
  topology: Topology,
  sub: SubTopology,
  scope: TaskScope,
  topicOf: (name: string, internal: boolean) => string,
): WiredTask {
  const failures = new TaskFailures(scope.id, scope.env, scope.record);
  const order = topologicalOrder(topology, sub);
  const sources = new Map<string, SourceReader>();
  const operators = new Map<string, Operator>();
  const entries = new Map<string, Downstream>();
  const guards = new Map<string, NodeGuard>();
  const results = new Map<string, Downstream>();
  for (const node of order) {
    if (node.kind === 'source') {
      sources.set(node.name, new SourceReader(node, scope.env, scope.record, failures));
    } else if (node.kind === 'sink') {
      const sink = new SinkOperator(node, topicOf, scope.env, scope.record, failures);
      operators.set(node.name, sink);
      entries.set(node.name, sink);
    } else {
      const operator = node.supplier() as Operator;
      operators.set(node.name, operator);
      const onError: ProcessingErrorHandler = (error, name, key, value) => failures.processing(error, name, key, value);
      const guard = new NodeGuard(node.name, operator, onError);
      if (operator.unfinished !== undefined) results.set(node.name, new NodeGuard(node.name, operator.unfinished.results, onError));
      entries.set(node.name, guard);
      guards.set(node.name, guard);
    }
  }
  const childrenOf = (names: readonly string[]): Map<string, Downstream> =>
    new Map(
      names.flatMap((name) => {
        const entry = entries.get(name);
        return entry === undefined ? [] : [[name, entry] as const];
      }),
    );
  for (const node of order) {
    if (node.kind === 'source') {
      const source = sources.get(node.name);
      if (source === undefined) continue;
      source.downstream = joined([...childrenOf(node.children).values()]);
      source.leavesValueOut = source.valueSerde.total && node.children.every((child) => operators.get(child)?.ignoresValue === true);
    }
  }
  return {
    sources,
    operators: [...operators].map(([name, operator]) => ({ name, operator })),
    guards,
    results,
    init: () => {
      for (const node of order) {
        const operator = operators.get(node.name);
        if (operator === undefined) continue;
        const children = childrenOf(node.kind === 'processor' ? node.children : []);
        operator.init(
          new NodeContext(
            node.name,
            scope,
            joined([...children.values()]),
            children,
            node.kind === 'processor' && node.emitsAtOnce === true,
          ),
        );
      }
    },
  };
}

const nowhere: Downstream = { process: () => undefined };

function joined(children: readonly Downstream[]): Downstream {
  const [only] = children;
  if (only === undefined) return nowhere;
  return children.length === 1 ? only : new FanOut(children);
}

function topologicalOrder(topology: Topology, sub: SubTopology): TopologyNode[] {
  const done = new Set<string>();
  const order: TopologyNode[] = [];
  const visit = (name: string): void => {
    if (done.has(name)) return;
    done.add(name);
    const node = topology.nodes.get(name);
    if (node === undefined) return;
    if (node.kind !== 'source') node.parents.forEach(visit);
    order.push(node);
  };
  sub.nodes.forEach(visit);
  return order;
}
