import type { MillraceError } from '../errors.js';
import type { Downstream, Operator } from '../processors/operator.js';
import { CallCount } from '../processors/call-count.js';
import { FanOut } from '../processors/fan-out.js';
import { CountingGuard, NodeGuard, Passing, RepeatingGuard, type NodeFailure } from '../processors/node-guard.js';
import { WrappedOperator, type ProcessorAround } from '../processors/processor-wrapper.js';
import type { ProcessorNode, SubTopology, Topology, TopologyNode } from '../topology/nodes.js';
import { mayRetry } from './error-policy.js';
import { TaskFailures } from './failures.js';
import { NodeContext, type TaskScope } from './node-context.js';
import { SinkOperator } from './sink-operator.js';
import { SourceReader } from './source-reader.js';
import type { NamedOperator } from './time-stages.js';

/** The operators of one task, wired: what `wireTask` makes of a sub-topology. */
export interface WiredTask {
  readonly sources: ReadonlyMap<string, SourceReader>;
  /** In topological order, parents first. */
  readonly operators: readonly NamedOperator[];
  /** What stands in front of each processor node and says of an error whose fault it is. */
  readonly guards: ReadonlyMap<string, NodeGuard>;
  /** Sends the results of asynchronous operators, under the same guard. */
  readonly results: ReadonlyMap<string, Downstream>;
  readonly failures: TaskFailures;
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
  const arounds = new Map<string, ProcessorAround>();
  const passings = new Map<string, Passing>();
  const repeats = mayRetry(scope.env.errors.processing);
  for (const node of order) {
    if (node.kind === 'source') {
      sources.set(node.name, new SourceReader(node, scope.env, scope.record, failures));
    } else if (node.kind === 'sink') {
      const sink = new SinkOperator(node, topicOf, scope.env, scope.record, failures);
      operators.set(node.name, sink);
      entries.set(node.name, sink);
    } else {
      const around = wrapping(scope, node);
      const operator = around === null ? (node.supplier() as Operator) : new WrappedOperator(node.supplier(), around);
      if (around !== null) arounds.set(node.name, around);
      operators.set(node.name, operator);
      const onError = (failure: NodeFailure): ReturnType<TaskFailures['processing']> => failures.processing(failure);
      const onFatal = (error: MillraceError): void => {
        failures.doom(error);
      };
      const passing = repeats && node.stores.length === 0 && operator.keepsRecords !== true ? new Passing() : null;
      const guard = !repeats
        ? new NodeGuard(node.name, operator, onError, onFatal)
        : passing === null
          ? new CountingGuard(node.name, operator, onError, new CallCount(scope.record), onFatal)
          : new RepeatingGuard(node.name, operator, onError, new CallCount(scope.record), passing, onFatal);
      if (passing !== null) passings.set(node.name, passing);
      if (operator.unfinished !== undefined) {
        // A result belongs to the call that brought its record, not to the turn it is sent in.
        const onResultError = (failure: NodeFailure): ReturnType<TaskFailures['processing']> =>
          failures.processing({ ...failure, call: scope.record.taken?.call ?? 0 });
        results.set(node.name, new NodeGuard(node.name, operator.unfinished.results, onResultError, onFatal));
      }
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
      source.leavesValueOut =
        source.valueSerde.total && node.children.every((child) => operators.get(child)?.ignoresValue === true && !hasSide(topology, child));
    }
  }
  return {
    sources,
    operators: [...operators].map(([name, operator]) => ({ name, operator, guard: guards.get(name) ?? null })),
    guards,
    results,
    failures,
    init: () => {
      for (const node of order) {
        const operator = operators.get(node.name);
        if (operator === undefined) continue;
        const children = watched(childrenOf(node.kind === 'processor' ? node.children : []), passings.get(node.name));
        operator.init(
          new NodeContext(
            node.name,
            scope,
            joined([...children].flatMap(([name, child]) => (isSide(topology, name) ? [] : [child]))),
            children,
            node.kind === 'processor' && node.emitsAtOnce === true,
            arounds.get(node.name) ?? null,
          ),
        );
      }
    },
  };
}

/** What goes to a side output is the record as it came, whatever the operator itself looks at. */
function hasSide(topology: Topology, name: string): boolean {
  const node = topology.nodes.get(name);
  return node?.kind === 'processor' && node.children.some((child) => isSide(topology, child));
}

function isSide(topology: Topology, name: string): boolean {
  const node = topology.nodes.get(name);
  return node?.kind === 'processor' && node.isSide === true;
}

/** The children of a node that may be called again, each with a note of what is passed on to it. */
function watched(children: Map<string, Downstream>, passing: Passing | undefined): Map<string, Downstream> {
  if (passing === undefined) return children;
  return new Map([...children].map(([name, child]) => [name, passing.watched(child)] as const));
}

function wrapping({ id, partition, env }: TaskScope, { name, stores }: ProcessorNode): ProcessorAround | null {
  return env.processorWrapper?.({ name, taskId: id, partition, stores }) ?? null;
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
