/** Which partitions run so far ahead in event time that they should wait for the others. */
export interface AlignmentMember<Id> {
  readonly id: Id;
  readonly watermark: number;
  /** Idle members neither wait nor make others wait. */
  readonly idle: boolean;
}

/**
 * The members more than `maxDrift` ms ahead of the slowest one. Members without a watermark yet are left out: nobody waits for what may never come. The
 * slowest one never waits, so there is always somebody to go on.
 */
export function aheadOfDrift<Id>(members: readonly AlignmentMember<Id>[], maxDrift: number): Id[] {
  const counted = members.filter(({ watermark, idle }) => !idle && watermark !== -Infinity);
  const slowest = counted.reduce((lowest, { watermark }) => Math.min(lowest, watermark), Infinity);
  return counted.filter(({ watermark }) => watermark > slowest + maxDrift).map(({ id }) => id);
}
