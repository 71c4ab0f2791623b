import type { StreamsGroupStatus } from '../kafka/streams-groups.js';
import { isBlocking, isFatalAtOnce, isFatalInTime } from './streams-group-reactions.js';

/** How long topics may be missing: a coordinator hears of new ones a moment later, ms. */
const topicsPatienceMs = 15_000;

/** What a streams group says it lacks. */
export class GroupReadiness {
  private statuses: readonly StreamsGroupStatus[] = [];
  private lacking: { readonly code: number; readonly since: number } | null = null;

  /** Nobody gets tasks for now. */
  get isBlocked(): boolean {
    return this.statuses.some(({ code }) => isBlocking(code));
  }

  /** `changed`: it said something else before. `verdict`: the group can't work, and has not mended itself in time. */
  note(statuses: readonly StreamsGroupStatus[], now: number): { readonly changed: boolean; readonly verdict: StreamsGroupStatus | null } {
    const changed = JSON.stringify(statuses) !== JSON.stringify(this.statuses);
    this.statuses = statuses;
    const inTime = statuses.find(({ code }) => isFatalInTime(code));
    // Who has its sources lacks, for a moment, the topics that the broker makes from then on.
    if (inTime?.code !== this.lacking?.code) this.lacking = inTime === undefined ? null : { code: inTime.code, since: now };
    const tooLong = this.lacking !== null && now - this.lacking.since > topicsPatienceMs;
    const verdict = statuses.find(({ code }) => isFatalAtOnce(code)) ?? (tooLong ? inTime : undefined);
    return { changed, verdict: verdict ?? null };
  }
}
