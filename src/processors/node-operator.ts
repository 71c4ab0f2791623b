/**
 * What most operators start from: the context, where results go, and the meta object that user functions get.
 *
 * The declared fields are set by `init`, which the task calls before the first record; they have no initial value so that the record path
 * needs no check.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Downstream, Operator, OperatorContext } from './operator.js';
import { RecordMetaView } from './record-meta.js';

export abstract class NodeOperator<K, V> implements Operator<K, V> {
  declare protected context: OperatorContext;
  declare protected downstream: Downstream;
  declare protected meta: RecordMetaView;

  init(context: OperatorContext): void {
    this.context = context;
    this.downstream = context.downstream;
    this.meta = new RecordMetaView(context.record);
  }

  abstract process(key: K, value: V, timestamp: number): MaybeAsync;
}
