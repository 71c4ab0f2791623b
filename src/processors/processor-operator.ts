/** Runs a user's Processor as a node: hands it records with their headers, and gives it a ProcessorContext. */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { ForwardScope } from './forward-scope.js';
import type { Operator, OperatorContext, OperatorSupplier } from './operator.js';
import { noOperatorStates, type OperatorStateStore } from './operator-state/operator-states.js';
import type { Processor, Record } from './processor.js';
import { UserContext } from './user-context.js';

/**
 * Makes of a processor what `TopologyBuilder.addProcessor` takes.
 *
 * @param supplier called once a task; each task has a processor of its own
 */
export function processorOperator<KIn, VIn, KOut, VOut>(
  supplier: () => Processor<KIn, VIn, KOut, VOut>,
  operatorStates: readonly OperatorStateStore[] = noOperatorStates,
): OperatorSupplier {
  return () => new ProcessorOperator(supplier(), operatorStates);
}

class ProcessorOperator<KIn, VIn, KOut, VOut> implements Operator<KIn, VIn> {
  declare private context: OperatorContext;
  declare private scope: ForwardScope;

  constructor(
    private readonly processor: Processor<KIn, VIn, KOut, VOut>,
    private readonly operatorStates: readonly OperatorStateStore[],
  ) {}

  init(context: OperatorContext): void {
    this.context = context;
    this.scope = new ForwardScope(context);
    const user = new UserContext<KOut, VOut>(context, this.scope, this.operatorStates);
    this.scope.initialise(() => this.processor.init?.(user));
  }

  process(key: KIn, value: VIn, timestamp: number): MaybeAsync {
    const headers = this.context.record.headers();
    return this.scope.run(this.userProcess, { key, value, timestamp, headers }, timestamp, headers);
  }

  close(): MaybeAsync {
    return this.processor.close?.();
  }

  private readonly userProcess = (record: Record<KIn, VIn>): MaybeAsync => this.processor.process(record);
}
