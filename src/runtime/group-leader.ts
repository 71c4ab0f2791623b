import { bareMessage } from '../errors/bare-message.js';
import { MillraceError } from '../errors.js';
import type { KafkaPort } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import { planAssignment, planFailure, type AssignmentPlan, type JoinedMember, type TaskSpec } from '../rebalance/assignment-plan.js';
import type { AssignorSettings, TaskAssignor } from '../rebalance/assignor.js';
import type { AssignmentError, MemberAssignment } from '../rebalance/member-assignment.js';
import type { ReleasedMember } from '../rebalance/releases/accepted-releases.js';
import { claimedThings } from '../rebalance/releases/claimed-work.js';
import { planMixed, releasedMember } from '../rebalance/releases/mixed-plan.js';
import { releaseFingerprint, type Release } from '../rebalance/releases/release.js';
import { mixReleases, type TopicsNow } from '../rebalance/releases/release-mix.js';
import { formatTaskId } from '../rebalance/task-id.js';
import { readChangelogEnds } from './changelog-bounds.js';
import type { CurrentPlans } from './current-plans.js';
import { unreadablePatterns } from './release-of.js';
import { missingTopics, readTopicsOf } from './topics-of-releases.js';

export interface GroupLeaderOptions {
  readonly port: Pick<KafkaPort, 'listOffsets' | 'metadata'>;
  readonly plans: CurrentPlans;
  readonly topologyFingerprint: string;
  readonly release: Release;
  readonly assignor: TaskAssignor;
  readonly settings: AssignorSettings;
  /** Milliseconds until the next look at copies that warm up. */
  readonly probingRebalanceInterval: number;
  readonly requestRejoin: (reason: string) => void;
  readonly logger: Logger;
}

/**
 * The leader's part of a rebalance: reads topics and the ends of changelogs, and plans. Where members have several releases, each gets tasks of its own topology only (src/rebalance/releases).
 *
 * A member that asks for the end of the application is heard first: everybody learns of it in place of an assignment.
 *
 * While copies warm up it asks for another rebalance after `probingRebalanceInterval`, in case none of them says that it is ready.
 */
export class GroupLeader {
  private probe: NodeJS.Timeout | null = null;

  constructor(private readonly options: GroupLeaderOptions) {}

  async assign(members: readonly JoinedMember[]): Promise<ReadonlyMap<string, MemberAssignment>> {
    const { assignments, warmups } = await this.plan(members);
    this.cancelProbe();
    if (warmups > 0) {
      this.options.logger.info({ warmups }, 'tasks wait for copies of their state to catch up elsewhere before they move');
      this.probe = setTimeout(() => this.options.requestRejoin('copies have had time to catch up'), this.options.probingRebalanceInterval);
      this.probe.unref();
    }
    return assignments;
  }

  /** Somebody else may lead from now on, or nobody need probe. */
  cancelProbe(): void {
    if (this.probe !== null) clearTimeout(this.probe);
    this.probe = null;
  }

  private async plan(members: readonly JoinedMember[]): Promise<AssignmentPlan> {
    const { plans, assignor, settings } = this.options;
    const releases = this.releasesOf(members);
    const reason = members.find(({ subscription }) => subscription?.shutdown !== undefined)?.subscription?.shutdown;
    if (reason !== undefined) {
      const message = `an instance has asked all instances of the application to stop: ${reason}`;
      return this.failure(members, releases, { code: 'MILL_APPLICATION_SHUTDOWN', message });
    }
    try {
      const current = await orFault(plans.refresh());
      const isMixed = [...releases.values()].some((release) => release === null || !this.isOwn(release));
      if (isMixed) return await this.planMix(members, releases, current instanceof MillraceError ? current : null);
      if (current instanceof MillraceError) throw current;
      const endOffsetSums = await this.endOffsetSums(current.specs);
      return planAssignment({ tasks: current.specs, members, assignor, settings, endOffsetSums });
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code === 'MILL_TRANSPORT') throw error;
      return this.failure(members, releases, error);
    }
  }

  private failure(
    members: readonly JoinedMember[],
    releases: ReadonlyMap<string, Release | null>,
    { code, message }: AssignmentError,
  ): AssignmentPlan {
    const { plans } = this.options;
    const releaseOf = ({ memberId }: JoinedMember): Release | null => releases.get(memberId) ?? null;
    return planFailure(
      members,
      { code, message },
      (member, task) => claimedThings(member, releaseOf(member), task),
      (member, task) => {
        const release = releaseOf(member);
        return release !== null && this.isOwn(release) ? (plans.known?.inputs(formatTaskId(task)) ?? []) : [];
      },
    );
  }

  private isOwn(release: Release): boolean {
    return releaseFingerprint(release) === releaseFingerprint(this.options.release);
  }

  /** @param ownFault what is wrong with the topics of the leader's own topology: it is of no concern to members with another one */
  private async planMix(
    members: readonly JoinedMember[],
    releases: ReadonlyMap<string, Release | null>,
    ownFault: MillraceError | null,
  ): Promise<AssignmentPlan> {
    const { port, assignor, settings, logger } = this.options;
    const known = members.flatMap((member) => releasedMember(member, releases.get(member.memberId) ?? null));
    const topics = await readTopicsOf(
      port,
      known.flatMap(({ release }) => (unreadablePatterns(release).length === 0 ? [release] : [])),
    );
    const released = known.map((member): ReleasedMember => {
      const refusal = this.refusalOf(member.release, topics, ownFault);
      return refusal === null ? member : { ...member, refusal };
    });
    const mix = mixReleases(released, topics);
    const unknown = new Map(
      [...releases].flatMap(([memberId, release]) => (release === null ? [[memberId, unknownRelease] as const] : [])),
    );
    const different = new Set(released.map(({ release }) => releaseFingerprint(release))).size;
    const refused = [...unknown.keys(), ...mix.refused.keys()];
    logger.info({ releases: different, refused }, 'the group has members with different releases of the topology');
    return planMixed(mix, unknown, { members, assignor, settings, endOffsetSums: await this.endOffsetSums(mix.tasks) });
  }

  /** Why members with the release can't have tasks, whatever the others have; the others go on. */
  private refusalOf(release: Release, topics: TopicsNow, ownFault: MillraceError | null): AssignmentError | null {
    const patterns = unreadablePatterns(release);
    if (patterns.length > 0) return unreadable(patterns);
    const missing = missingTopics(release, topics);
    if (missing.length > 0) return missingSources(missing);
    return ownFault !== null && this.isOwn(release) ? { code: ownFault.code, message: ownFault.message } : null;
  }

  /**
   * Of the members that are understood, by id. One that runs a version of Millrace that does not say has the release of whoever has the same topology; null: nobody has.
   */
  private releasesOf(members: readonly JoinedMember[]): ReadonlyMap<string, Release | null> {
    const subscriptions = members.flatMap(({ memberId, subscription }) => (subscription === null ? [] : [{ memberId, ...subscription }]));
    const known = new Map(
      subscriptions.flatMap(({ topologyFingerprint, release }) => (release === null ? [] : [[topologyFingerprint, release] as const])),
    );
    known.set(this.options.topologyFingerprint, this.options.release);
    return new Map(
      subscriptions.map(({ memberId, topologyFingerprint, release }) => [memberId, release ?? inStreaming(known.get(topologyFingerprint))]),
    );
  }

  /** Unknown ends are no reason not to assign: without them no task waits for a copy. */
  private async endOffsetSums(specs: readonly TaskSpec[]): Promise<ReadonlyMap<string, number>> {
    const stateful = specs.filter(({ changelogs }) => changelogs.length > 0);
    if (stateful.length === 0) return new Map();
    try {
      const ends = await readChangelogEnds(
        this.options.port,
        stateful.flatMap(({ changelogs }) => changelogs),
      );
      return new Map(
        stateful.map(({ task, changelogs }) => [
          formatTaskId(task),
          changelogs.reduce((sum, { topic, partition }) => sum + (ends.get(`${topic}-${partition}`) ?? 0), 0),
        ]),
      );
    } catch (error) {
      if (error instanceof MillraceError && error.code === 'MILL_TRANSPORT') throw error;
      this.options.logger.warn({ error: String(error) }, 'the ends of the changelogs could not be read: tasks are assigned without them');
      return new Map();
    }
  }
}

/** A version that does not say its release knows no other mode. */
function inStreaming(release: Release | undefined): Release | null {
  if (release === undefined) return null;
  return release.mode === 'streaming' ? release : { ...release, mode: 'streaming' };
}

const unknownRelease: AssignmentError = {
  code: 'MILL_TOPOLOGY_MISMATCH',
  message:
    'the members of the group that tell their release have another topology than this one, and this version of Millrace does not tell enough to share the group with them: deploy the new version first, then the new topology',
};

function unreadable(patterns: readonly string[]): AssignmentError {
  return {
    code: 'MILL_TOPOLOGY_MISMATCH',
    message: `the topology reads ${patterns.join(', ')}, which the leader of the group can't read with its Node.js ${process.version}: write it in an older syntax, or deploy the newer Node.js on all instances first`,
  };
}

function missingSources(topics: readonly string[]): AssignmentError {
  return {
    code: 'MILL_TOPIC_MISSING',
    message: `source topic(s) ${topics.join(', ')} do not exist, or the leader of the group may not describe them; members with another topology, which does not read them, go on`,
  };
}

/** The plans, or what is wrong with the topics. Rejects with anything else. */
async function orFault<T>(plans: Promise<T>): Promise<T | MillraceError> {
  try {
    return await plans;
  } catch (error) {
    if (error instanceof MillraceError && error.code !== 'MILL_TRANSPORT') return error;
    throw error;
  }
}

/** What the leader told this member, as an error of its own. */
export function refusal({ code, message }: AssignmentError): MillraceError {
  return isTold(code) ? new MillraceError(code, bareMessage(code, message)) : new MillraceError('MILL_GROUP_FATAL', message);
}

const told = [
  'MILL_TOPIC_MISSING',
  'MILL_TOPIC_INCOMPATIBLE',
  'MILL_TOPOLOGY_NOT_COPARTITIONED',
  'MILL_TOPOLOGY_MISMATCH',
  'MILL_ASSIGNOR_INVALID',
  'MILL_APPLICATION_SHUTDOWN',
] as const;

function isTold(code: string): code is (typeof told)[number] {
  return (told as readonly string[]).includes(code);
}
