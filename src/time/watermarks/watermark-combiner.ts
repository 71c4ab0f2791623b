/**
 * The watermark of several inputs: partitions of a source, or inputs of an operator.
 *
 * The output is the minimum over the active members and never goes back. An idle member leaves the minimum; when the last one goes idle the maximum of all
 * is flushed once, then the output is idle. A member that comes back behind the output is either left out until it has caught up (`ignore`, inputs of an
 * operator: Flink's StatusWatermarkValve with FLINK-40475) or holds the output where it is (`hold`, partitions of a source: Flink's
 * WatermarkOutputMultiplexer). New members hold in both.
 *
 * Invariant: what comes out is the same for every interleaving of the same members' sequences, as far as the order within each member is kept.
 */
import { MillraceError } from '../../errors.js';
import { noWatermark, type WatermarkOutput } from './watermark.js';

export type LaggingMembers = 'ignore' | 'hold';

interface Member {
  watermark: number;
  idle: boolean;
  /** False while the member is left out because it is behind. */
  counted: boolean;
}

export class WatermarkCombiner<Id = number> {
  private readonly members = new Map<Id, Member>();
  private last = noWatermark;
  private outputIdle = false;

  constructor(
    private readonly output: WatermarkOutput,
    private readonly lagging: LaggingMembers,
  ) {}

  /** The last watermark that came out. */
  get watermark(): number {
    return this.last;
  }

  get isIdle(): boolean {
    return this.outputIdle;
  }

  add(id: Id): void {
    if (this.members.has(id)) return;
    this.members.set(id, { watermark: noWatermark, idle: false, counted: true });
    if (!this.outputIdle) return;
    this.outputIdle = false;
    this.output.markActive();
  }

  /** The rest may advance from its next watermark on. */
  remove(id: Id): void {
    this.members.delete(id);
  }

  watermarkOf(id: Id): number {
    return this.member(id).watermark;
  }

  /** Takes up the output of an earlier life: what is behind it does not count as new. */
  restore(watermark: number): void {
    if (watermark > this.last) this.last = watermark;
  }

  /** A watermark of a member. Under `ignore` an idle member has to be active first; under `hold` its watermark makes it active. */
  advance(id: Id, watermark: number): void {
    const member = this.member(id);
    if (member.idle) {
      if (this.lagging === 'ignore') return;
      this.wake(member);
    }
    if (watermark <= member.watermark) return;
    member.watermark = watermark;
    if (!member.counted && watermark >= this.last) member.counted = true;
    this.emitMinimum();
  }

  /** Said again under `hold`, it is told again: sources ask in turn, and what has left since counts from then on. */
  idle(id: Id): void {
    const member = this.member(id);
    if (member.idle && this.lagging === 'ignore') return;
    member.idle = true;
    member.counted = false;
    if (!this.allIdle()) {
      this.emitMinimum();
      return;
    }
    this.emitIfHigher(this.maximum());
    this.outputIdle = true;
    this.output.markIdle();
  }

  active(id: Id): void {
    const member = this.member(id);
    if (member.idle) this.wake(member);
    else if (this.lagging === 'ignore') return;
    this.emitMinimum();
  }

  private wake(member: Member): void {
    member.idle = false;
    member.counted = this.lagging === 'hold' || member.watermark >= this.last;
    if (!this.outputIdle) return;
    this.outputIdle = false;
    this.output.markActive();
  }

  private member(id: Id): Member {
    const member = this.members.get(id);
    if (member === undefined) throw new MillraceError('MILL_INVARIANT', `There is no watermark input ${String(id)}.`);
    return member;
  }

  private allIdle(): boolean {
    for (const member of this.members.values()) if (!member.idle) return false;
    return true;
  }

  private maximum(): number {
    let highest = noWatermark;
    for (const member of this.members.values()) if (member.watermark > highest) highest = member.watermark;
    return highest;
  }

  private emitMinimum(): void {
    let lowest = Infinity;
    let some = false;
    for (const member of this.members.values()) {
      if (!member.counted) continue;
      some = true;
      if (member.watermark < lowest) lowest = member.watermark;
    }
    if (some) this.emitIfHigher(lowest);
  }

  private emitIfHigher(watermark: number): void {
    if (watermark <= this.last) return;
    this.last = watermark;
    this.output.emit(watermark);
  }
}
