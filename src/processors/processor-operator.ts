/** Runs a user's Processor as a node: hands it records with their headers, and gives it a ProcessorContext. */
import { noHeaders } from '../bytes/headers.js';
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { StateStore } from '../stores/store.js';
import { ForwardScope } from './forward-scope.js';
import type { Cancellable, Operator, OperatorContext, OperatorSupplier, ScheduleOptions } from './operator.js';
import type { Processor, ProcessorContext, Record, RecordMetadata } from './processor.js';

/**
 * Makes of a processor what `TopologyBuilder.addProcessor` takes.
 *
 * @param supplier called once a task; each task has a processor of its own
 */
export function processorOperator<KIn, VIn, KOut, VOut>(supplier: () => Processor<KIn, VIn, KOut, VOut>): OperatorSupplier {
  return () => new ProcessorOperator(supplier());
}

class ProcessorOperator<KIn, VIn, KOut, VOut> implements Operator<KIn, VIn> {
  declare private context: OperatorContext;
  declare private scope: ForwardScope;

  constructor(private readonly processor: Processor<KIn, VIn, KOut, VOut>) {}

  init(context: OperatorContext): void {
    this.context = context;
    this.scope = new ForwardScope(context);
    this.processor.init?.(new UserContext<KOut, VOut>(context, this.scope));
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

export class UserContext<KOut, VOut> implements ProcessorContext<KOut, VOut> {
  readonly applicationId: string;
  readonly taskId: string;
  readonly partition: number;

  constructor(
    private readonly context: OperatorContext,
    private readonly scope: ForwardScope,
  ) {
    this.applicationId = context.applicationId;
    this.taskId = context.taskId;
    this.partition = context.partition;
  }

  forward(record: Parameters<ProcessorContext<KOut, VOut>['forward']>[0], child?: string): MaybeAsync {
    const target = child === undefined ? this.context.downstream : this.context.child(child);
    return this.scope.forward(target, record.key, record.value, record.timestamp, record.headers);
  }

  store<S extends StateStore = StateStore>(name: string): S {
    return this.context.store(name) as S;
  }

  schedule(options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable {
    return this.context.schedule(options, (timestamp) => this.scope.run(callback, timestamp, timestamp, noHeaders));
  }

  recordMetadata(): RecordMetadata | null {
    const { topic, partition, offset } = this.context.record;
    return topic === null ? null : { topic, partition, offset };
  }

  streamTime(): number {
    return this.context.streamTime();
  }

  wallClock(): number {
    return this.context.wallClock();
  }

  commit(): void {
    this.context.requestCommit();
  }
}
