import { MillraceError } from '../errors.js';
import { backoffMs, delay } from '../kafka/backoff.js';
import type { Logger } from '../observability/logger.js';
import type { TaskPlans } from './task-plans.js';

const metadataPause = { initialMs: 50, maxMs: 1000 };

/** The plans for the topics as last seen; read again at every assignment. */
export class CurrentPlans {
  known: TaskPlans | null = null;

  constructor(private readonly read: () => Promise<TaskPlans>) {}

  async refresh(): Promise<TaskPlans> {
    this.known = await this.read();
    return this.known;
  }

  /** The broker's absence is no reason to leave the group. */
  async refreshWhenReachable(logger: Logger, hasEnded: () => boolean): Promise<TaskPlans> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.refresh();
      } catch (error) {
        if (!(error instanceof MillraceError) || error.code !== 'MILL_TRANSPORT' || hasEnded()) throw error;
        logger.info({ error: String(error), attempt }, 'the topics of new tasks could not be read; trying again');
        await delay(backoffMs(attempt, metadataPause, Math.random));
      }
    }
  }

  async current(): Promise<TaskPlans> {
    return this.known ?? this.refresh();
  }
}
