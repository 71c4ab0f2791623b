/**
 * A classic group coordinator in memory, as the broker behaves: join barrier, sync, sessions, a rebalance timeout, and no rebalance for
 * a follower that joins a stable group with the metadata it had. Time is given with every call.
 */
import type { EncodedAssignment, JoinAnswer } from '../../../src/rebalance/group-protocol.js';

export interface JoinReply extends JoinAnswer {
  readonly members: readonly { readonly memberId: string; readonly metadata: Buffer }[];
}

export interface SyncReply {
  readonly errorCode: number;
  readonly assignment: Buffer;
}

interface Member {
  readonly id: string;
  metadata: Buffer;
  lastSeen: number;
  joining: ((reply: JoinReply) => void) | null;
  syncing: ((reply: SyncReply) => void) | null;
  assignment: Buffer;
}

const nothing = Buffer.alloc(0);

export class SimulatedCoordinator {
  generation = 0;
  state: 'empty' | 'preparing' | 'completing' | 'stable' = 'empty';
  private leader = '';
  private deadline = Infinity;
  private ids = 0;
  private readonly members = new Map<string, Member>();
  private readonly promisedIds = new Set<string>();

  constructor(
    private readonly sessionTimeoutMs: number,
    private readonly rebalanceTimeoutMs: number,
  ) {}

  get memberIds(): readonly string[] {
    return [...this.members.keys()];
  }

  /** Would an offset commit with this identity be taken? */
  accepts(memberId: string, generation: number): boolean {
    return this.members.has(memberId) && generation === this.generation;
  }

  join(memberId: string, metadata: Buffer, now: number, reply: (reply: JoinReply) => void): void {
    if (memberId === '') {
      const promised = `member-${++this.ids}`;
      this.promisedIds.add(promised);
      reply(this.refusal(79, promised));
      return;
    }
    let member = this.members.get(memberId);
    if (member === undefined) {
      if (!this.promisedIds.delete(memberId)) {
        reply(this.refusal(25, ''));
        return;
      }
      member = { id: memberId, metadata, lastSeen: now, joining: null, syncing: null, assignment: nothing };
      this.members.set(memberId, member);
    } else if (
      this.state !== 'preparing' &&
      member.metadata.equals(metadata) &&
      (this.state === 'completing' || memberId !== this.leader)
    ) {
      member.lastSeen = now;
      reply(this.joinReply(member));
      return;
    }
    member.metadata = metadata;
    member.lastSeen = now;
    member.joining = reply;
    this.prepare(now);
  }

  sync(
    memberId: string,
    generation: number,
    assignments: readonly EncodedAssignment[],
    now: number,
    reply: (reply: SyncReply) => void,
  ): void {
    const refused = this.check(memberId, generation);
    const member = this.members.get(memberId);
    if (refused !== 0 || member === undefined || this.state === 'preparing') {
      reply({ errorCode: refused === 0 ? 27 : refused, assignment: nothing });
      return;
    }
    member.lastSeen = now;
    if (this.state === 'stable') {
      reply({ errorCode: 0, assignment: member.assignment });
      return;
    }
    member.syncing = reply;
    if (memberId !== this.leader) return;
    for (const each of this.members.values())
      each.assignment = assignments.find((given) => given.memberId === each.id)?.assignment ?? nothing;
    this.state = 'stable';
    this.deadline = Infinity;
    for (const each of this.members.values()) {
      const waiting = each.syncing;
      each.syncing = null;
      if (waiting === null) continue;
      each.lastSeen = now;
      waiting({ errorCode: 0, assignment: each.assignment });
    }
  }

  heartbeat(memberId: string, generation: number, now: number): number {
    const refused = this.check(memberId, generation);
    if (refused !== 0) return refused;
    const member = this.members.get(memberId);
    if (member !== undefined) member.lastSeen = now;
    return this.state === 'preparing' ? 27 : 0;
  }

  leave(memberId: string, now: number): number {
    if (!this.members.has(memberId)) return 25;
    this.remove(memberId, now);
    return 0;
  }

  /** Lets sessions and rebalances run out. */
  tick(now: number): void {
    for (const member of [...this.members.values()]) {
      const parked = member.joining !== null || member.syncing !== null;
      if (!parked && now - member.lastSeen > this.sessionTimeoutMs) this.remove(member.id, now);
    }
    if (now < this.deadline) return;
    for (const member of [...this.members.values()]) {
      if (this.state === 'preparing' ? member.joining === null : member.syncing === null) this.remove(member.id, now);
    }
    this.completeIfJoined(now);
  }

  private check(memberId: string, generation: number): number {
    if (!this.members.has(memberId)) return 25;
    return generation === this.generation ? 0 : 22;
  }

  private remove(memberId: string, now: number): void {
    this.members.delete(memberId);
    if (this.members.size > 0) {
      this.prepare(now);
      return;
    }
    this.state = 'empty';
    this.deadline = Infinity;
    this.generation++;
  }

  private prepare(now: number): void {
    if (this.state !== 'preparing') {
      for (const member of this.members.values()) {
        member.syncing?.({ errorCode: 27, assignment: nothing });
        if (member.syncing !== null) member.lastSeen = now;
        member.syncing = null;
      }
      this.state = 'preparing';
      this.deadline = now + this.rebalanceTimeoutMs;
    }
    this.completeIfJoined(now);
  }

  private completeIfJoined(now: number): void {
    const members = [...this.members.values()];
    if (this.state !== 'preparing' || members.length === 0 || members.some(({ joining }) => joining === null)) return;
    this.generation++;
    this.state = 'completing';
    this.deadline = now + this.rebalanceTimeoutMs;
    if (!this.members.has(this.leader)) this.leader = members[0]!.id;
    for (const member of members) {
      const waiting = member.joining;
      member.joining = null;
      member.lastSeen = now;
      waiting?.(this.joinReply(member));
    }
  }

  private joinReply(member: Member): JoinReply {
    const members = member.id === this.leader ? [...this.members.values()].map(({ id, metadata }) => ({ memberId: id, metadata })) : [];
    return { errorCode: 0, generation: this.generation, memberId: member.id, leader: this.leader, protocolName: 'millrace-v1', members };
  }

  private refusal(errorCode: number, memberId: string): JoinReply {
    return { errorCode, generation: -1, memberId, leader: '', protocolName: null, members: [] };
  }
}
