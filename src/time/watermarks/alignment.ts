/**
 * Which partitions run so far ahead in event time that they should wait for the others: those of the same task, and those of the other tasks of the
 * stream thread that are aligned with them.
 */
export interface AlignmentMember<Id> {
  readonly id: Id;
  readonly watermark: number;
  /** Idle members neither wait nor make others wait. */
  readonly idle: boolean;
}

export interface AlignedPartition {
  /** null: the partitions of the tasks of one sub-topology. */
  readonly group: string | null;
  /** ms */
  readonly maxDrift: number;
  readonly member: AlignmentMember<number>;
}

/** One task's view of the alignment. */
export interface Alignment {
  /** Indexes of the task's partitions that have to wait. Tells the other tasks where this one is. */
  tooFarAhead(partitions: readonly AlignedPartition[]): number[];
  /** How far the foremost of the task's partitions is ahead of the slowest of its group, ms; null when none takes part. Tells nobody anything. */
  drift(partitions: readonly AlignedPartition[]): number | null;
  /** The task is gone: nobody waits for it. */
  close(): void;
}

/**
 * The members more than `maxDrift` ms ahead of the slowest one. Members without a watermark yet are left out: nobody waits for what may never come. The
 * slowest one never waits, so there is always somebody to go on.
 *
 * @param elsewhere the slowest of other tasks, Infinity when there is none
 */
export function aheadOfDrift<Id>(members: readonly AlignmentMember<Id>[], maxDrift: number, elsewhere = Infinity): Id[] {
  const counted = members.filter(takesPart);
  const slowest = slowestOf(counted, elsewhere);
  return counted.filter(({ watermark }) => watermark > slowest + maxDrift).map(({ id }) => id);
}

/** Where the tasks of one stream thread are, by group: the slowest aligned partition of each. */
export class AlignmentGroups {
  private readonly groups = new Map<string, Map<string, number>>();

  /**
   * @param task its id
   * @param ownGroup the group of partitions whose strategy names none: the sub-topology
   */
  of(task: string, ownGroup: string): Alignment {
    return {
      tooFarAhead: (partitions) => this.tooFarAhead(task, ownGroup, partitions),
      drift: (partitions) => this.drift(task, ownGroup, partitions),
      close: () => this.forget(task),
    };
  }

  private tooFarAhead(task: string, ownGroup: string, partitions: readonly AlignedPartition[]): number[] {
    const waiting: number[] = [];
    for (const [group, aligned] of byGroup(ownGroup, partitions)) {
      const members = aligned.map(({ member }) => member);
      const drift = aligned.reduce((least, { maxDrift }) => Math.min(least, maxDrift), Infinity);
      waiting.push(...aheadOfDrift(members, drift, this.exchange(group, task, slowestOf(members.filter(takesPart)))));
    }
    return waiting;
  }

  private drift(task: string, ownGroup: string, partitions: readonly AlignedPartition[]): number | null {
    let most: number | null = null;
    for (const [group, aligned] of byGroup(ownGroup, partitions)) {
      // One that has ended is ahead of nobody.
      const members = aligned.map(({ member }) => member).filter((member) => takesPart(member) && member.watermark !== Infinity);
      if (members.length === 0) continue;
      const slowest = slowestOf(members, this.elsewhere(group, task));
      most = members.reduce((drift, { watermark }) => Math.max(drift, watermark - slowest), most ?? 0);
    }
    return most;
  }

  /** Tells where the task is in the group; answers where the slowest of the others is. */
  private exchange(group: string, task: string, slowest: number): number {
    const tasks = this.groups.get(group) ?? new Map<string, number>();
    this.groups.set(group, tasks);
    tasks.set(task, slowest);
    return this.elsewhere(group, task);
  }

  private elsewhere(group: string, task: string): number {
    let slowest = Infinity;
    for (const [other, watermark] of this.groups.get(group) ?? []) if (other !== task && watermark < slowest) slowest = watermark;
    return slowest;
  }

  private forget(task: string): void {
    for (const tasks of this.groups.values()) tasks.delete(task);
  }
}

/** @param ownGroup of those whose strategy names none */
function byGroup(ownGroup: string, partitions: readonly AlignedPartition[]): Map<string, AlignedPartition[]> {
  const groups = new Map<string, AlignedPartition[]>();
  for (const partition of partitions) {
    const group = partition.group === null ? `of ${ownGroup}` : `named ${partition.group}`;
    groups.set(group, [...(groups.get(group) ?? []), partition]);
  }
  return groups;
}

function takesPart({ idle, watermark }: AlignmentMember<unknown>): boolean {
  return !idle && watermark !== -Infinity;
}

function slowestOf(members: readonly AlignmentMember<unknown>[], start = Infinity): number {
  return members.reduce((lowest, { watermark }) => Math.min(lowest, watermark), start);
}
