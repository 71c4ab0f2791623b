import { delay } from '../kafka/backoff.js';
import type { Logger } from '../observability/logger.js';
import type { Operator } from '../processors/operator.js';

/** How long the processors of a task may take to close, ms. */
const operatorCloseMs = 5000;

/** An operator, or what was opened beside it. */
export interface Closing {
  /** Of its node. */
  readonly name: string;
  readonly operator: Pick<Operator, 'close'>;
}

/** An operator that fails to close, or takes too long, is logged. */
export async function closeOperators(taskId: string, operators: readonly Closing[], logger: Logger): Promise<void> {
  const closing = operators.map(async ({ name, operator }) => {
    try {
      await operator.close?.();
    } catch (error) {
      logger.warn({ taskId, node: name, error: String(error) }, 'a processor failed to close');
    }
  });
  const patience = new AbortController();
  const late = delay(operatorCloseMs, patience.signal).then(
    () => {
      logger.warn({ taskId }, `a processor did not close within ${operatorCloseMs} ms; it is left behind`);
    },
    () => undefined,
  );
  await Promise.race([Promise.all(closing), late]);
  patience.abort();
}
