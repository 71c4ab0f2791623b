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

/** @param takesNull whether records without a value go on; else they are dropped and counted */
export function joinSideOperator(side: JoinSide, takesNull: boolean): OperatorSupplier {
  return () => new JoinSideOperator(side, takesNull);
}

/** Passes what comes from one side on, as it was before its side was noted. */
export function sideOfOperator(side: JoinSide): OperatorSupplier {
  return () => new SideOfOperator(side);
}

class JoinSideOperator extends NodeOperator<unknown, unknown> {
  constructor(
    private readonly side: JoinSide,
    private readonly takesNull: boolean,
  ) {
    super();
  }

  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    if (!this.takesNull && (value === null || value === undefined)) {
      this.context.dropped('null-value');
      return;
    }
    return this.downstream.process(key, new Sided(this.side, value), timestamp);
  }
}

class SideOfOperator extends NodeOperator<unknown, Sided<unknown>> {
  constructor(private readonly side: JoinSide) {
    super();
  }

  process(key: unknown, { side, value }: Sided<unknown>, timestamp: number): MaybeAsync {
    if (side === this.side) return this.downstream.process(key, value, timestamp);
  }
}
