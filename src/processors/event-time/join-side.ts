/** Tells the two inputs of a join apart: an operator has one `process`, so each record is handed over with the side it comes from. */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import type { JoinSide } from '../interval-join/interval-join-engine.js';
import type { OperatorSupplier } from '../operator.js';
import { NodeOperator } from '../node-operator.js';

export class Sided<V> {
  constructor(
    readonly side: JoinSide,
    readonly value: V,
  ) {}
}

export function joinSideOperator(side: JoinSide): OperatorSupplier {
  return () => new JoinSideOperator(side);
}

class JoinSideOperator extends NodeOperator<unknown, unknown> {
  constructor(private readonly side: JoinSide) {
    super();
  }

  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    return this.downstream.process(key, new Sided(this.side, value), timestamp);
  }
}
