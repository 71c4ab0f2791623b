/**
 * Runs a user's FixedKeyProcessor as a node. Types keep a processor from making keys; in plain JavaScript the check at `forward` does, since a changed key would
 * lie in the wrong partition without anybody noticing.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { ForwardScope } from './forward-scope.js';
import { notForwarded } from './forwarded-record.js';
import type { Operator, OperatorContext, OperatorSupplier } from './operator.js';
import { noOperatorStates, type OperatorStateStore } from './operator-state/operator-states.js';
import type { FixedKeyProcessor, FixedKeyProcessorContext, FixedKeyRecord } from './processor.js';
import { BaseUserContext } from './user-context.js';

/** @param supplier called once a task; each task has a processor of its own */
export function fixedKeyOperator<K, VIn, VOut>(
  supplier: () => FixedKeyProcessor<K, VIn, VOut>,
  operatorStates: readonly OperatorStateStore[] = noOperatorStates,
): OperatorSupplier {
  return () => new FixedKeyOperator(supplier(), operatorStates);
}

class FixedKeyOperator<K, VIn, VOut> implements Operator<FixedKeyRecord<K, VIn>['key'], VIn> {
  declare private context: OperatorContext;
  declare private scope: ForwardScope;
  declare private user: FixedKeyContext<K, VOut>;

  constructor(
    private readonly processor: FixedKeyProcessor<K, VIn, VOut>,
    private readonly operatorStates: readonly OperatorStateStore[],
  ) {}

  init(context: OperatorContext): void {
    this.context = context;
    this.scope = new ForwardScope(context);
    this.user = new FixedKeyContext<K, VOut>(context, this.scope, this.operatorStates);
    this.scope.initialise(() => this.processor.init?.(this.user));
  }

  process(key: FixedKeyRecord<K, VIn>['key'], value: VIn, timestamp: number): MaybeAsync {
    const headers = this.context.record.headers();
    this.user.enter(key);
    return this.scope.run(this.userProcess, { key, value, timestamp, headers }, timestamp, headers);
  }

  close(): MaybeAsync {
    return this.processor.close?.();
  }

  private readonly userProcess = (record: FixedKeyRecord<K, VIn>): MaybeAsync => this.processor.process(record);
}

class FixedKeyContext<K, VOut> extends BaseUserContext implements FixedKeyProcessorContext<K, VOut> {
  /** Of the record in work; undefined in a timer, since no record has it. */
  private key: unknown = undefined;

  private readonly nodeName: string;

  constructor(context: OperatorContext, scope: ForwardScope, operatorStates: readonly OperatorStateStore[]) {
    super(context, scope, operatorStates);
    this.nodeName = context.nodeName;
  }

  enter(key: unknown): void {
    this.key = key;
  }

  protected override enterTimer(): void {
    this.key = undefined;
  }

  forward(record: Parameters<FixedKeyProcessorContext<K, VOut>['forward']>[0], child?: string): MaybeAsync {
    const { value } = record;
    if (value === undefined) throw notForwarded(record, ['value']);
    const key: unknown = record.key === undefined ? this.key : record.key;
    if (key === undefined) throw this.refusal('forwards a value in a timer without a key: name that of a record kept from before');
    if (this.key !== undefined && !Object.is(key, this.key)) throw this.refusal('forwards another key than that of the record in work');
    return this.scope.forward(this.target(child), key, value, record.timestamp, record.headers);
  }

  private refusal(what: string): MillraceError {
    return new MillraceError('MILL_KEY_CHANGED', `Processor ${this.nodeName} ${what}.`, { details: { node: this.nodeName } });
  }
}
