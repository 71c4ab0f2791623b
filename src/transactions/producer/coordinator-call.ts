/**
 * The one request to a coordinator that is under way: found, sent, repeated until its answer is definite or its time is up.
 *
 * Coordinators serve one step of a transaction at a time, so there is never more than one of these. `inDoubt` remembers that an
 * attempt may have been carried out without our knowing.
 */
import { backoffMs } from '../../kafka/backoff.js';
import type { ProducerRequest } from './answer-class.js';
import { concurrentPauseMs, retryPause } from './retry-pause.js';

export type CoordinatorRequest = Exclude<ProducerRequest, 'produce'>;

export class CoordinatorCall {
  /** Number of the command whose answer is awaited; -1 while pausing. */
  call = -1;
  /** The awaited answer is that of FindCoordinator. */
  isFinding = false;
  inDoubt = false;
  notBefore = 0;
  private failures = 0;

  constructor(
    readonly request: CoordinatorRequest,
    readonly coordinator: 'transaction' | 'group',
    readonly startedAt: number,
  ) {}

  pauseForMarkers(now: number): void {
    this.pause(now + concurrentPauseMs(this.failures + 1));
  }

  pauseForCluster(now: number, random: () => number): void {
    this.pause(now + backoffMs(this.failures + 1, retryPause, random));
  }

  private pause(until: number): void {
    this.failures++;
    this.call = -1;
    this.isFinding = false;
    this.notBefore = until;
  }
}
