import { MillraceError } from '../errors.js';
import type { KafkaPort, TopicPartition } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import { planAssignment, planFailure, type AssignmentPlan, type JoinedMember } from '../rebalance/assignment-plan.js';
import type { AssignorSettings, TaskAssignor } from '../rebalance/assignor.js';
import type { AssignmentError, MemberAssignment } from '../rebalance/member-assignment.js';
import { formatTaskId, type TaskId } from '../rebalance/task-id.js';
import { readChangelogEnds } from './changelog-bounds.js';
import type { CurrentPlans } from './current-plans.js';
import type { TaskPlans } from './task-plans.js';

export interface GroupLeaderOptions {
  readonly port: Pick<KafkaPort, 'listOffsets'>;
  readonly plans: CurrentPlans;
  readonly topologyFingerprint: string;
  readonly assignor: TaskAssignor;
  readonly settings: AssignorSettings;
  /** Milliseconds until the next look at copies that warm up. */
  readonly probingRebalanceInterval: number;
  readonly requestRejoin: (reason: string) => void;
  readonly logger: Logger;
}

/**
 * The leader's part of a rebalance: reads topics and the ends of changelogs, refuses members with another topology rather than give them tasks they can't run, and plans.
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
    const inputs = (task: TaskId): readonly TopicPartition[] => plans.known?.inputs(formatTaskId(task)) ?? [];
    const reason = members.find(({ subscription }) => subscription?.shutdown !== undefined)?.subscription?.shutdown;
    if (reason !== undefined) {
      const message = `an instance has asked all instances of the application to stop: ${reason}`;
      return planFailure(members, { code: 'MILL_APPLICATION_SHUTDOWN', message }, inputs);
    }
    try {
      const current = await plans.refresh();
      const endOffsetSums = await this.endOffsetSums(current);
      return planAssignment({ tasks: current.specs, members, assignor, settings, endOffsetSums, refused: this.refused(members) });
    } catch (error) {
      if (!(error instanceof MillraceError) || error.code === 'MILL_TRANSPORT') throw error;
      return planFailure(members, { code: error.code, message: error.message }, inputs);
    }
  }

  private refused(members: readonly JoinedMember[]): ReadonlyMap<string, AssignmentError> {
    const refused = new Map<string, AssignmentError>();
    for (const { memberId, subscription } of members) {
      if (subscription === null || subscription.topologyFingerprint === this.options.topologyFingerprint) continue;
      refused.set(memberId, {
        code: 'MILL_TOPOLOGY_MISMATCH',
        message: 'the leader of the group runs another topology under this applicationId',
      });
    }
    return refused;
  }

  /** Unknown ends are no reason not to assign: without them no task waits for a copy. */
  private async endOffsetSums(plans: TaskPlans): Promise<ReadonlyMap<string, number>> {
    const stateful = plans.specs.filter(({ changelogs }) => changelogs.length > 0);
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

/** What the leader told this member, as an error of its own. */
export function refusal({ code, message }: AssignmentError): MillraceError {
  return new MillraceError(isTold(code) ? code : 'MILL_GROUP_FATAL', message);
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
