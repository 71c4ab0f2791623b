/** One member of a group as the coordinator keeps it, and the answers that it may wait for. */
import { ErrorCodes } from '../../kafka/error-codes.js';
import type { JoinGroupRequest, JoinGroupResponse, SyncGroupResponse } from '../../kafka/port.js';

export type JoinReply = (answer: JoinGroupResponse) => void;
export type SyncReply = (answer: SyncGroupResponse) => void;

export class MemberRecord {
  joining: JoinReply | null = null;
  syncing: SyncReply | null = null;
  assignment: Buffer = Buffer.alloc(0);
  sessionTimeoutMs = 0;
  rebalanceTimeoutMs = 0;
  protocols: JoinGroupRequest['protocols'] = [];
  cancelSession: () => void = () => undefined;

  constructor(
    public memberId: string,
    readonly groupInstanceId: string | null,
  ) {}

  take(request: JoinGroupRequest): void {
    this.sessionTimeoutMs = request.sessionTimeoutMs;
    this.rebalanceTimeoutMs = request.rebalanceTimeoutMs;
    this.protocols = request.protocols.map(({ name, metadata }) => ({ name, metadata: Buffer.from(metadata) }));
  }

  /** What the coordinator writes of it: nobody waits, no session runs. */
  copy(): MemberRecord {
    const { memberId, groupInstanceId, assignment, sessionTimeoutMs, rebalanceTimeoutMs, protocols } = this;
    return Object.assign(new MemberRecord(memberId, groupInstanceId), { assignment, sessionTimeoutMs, rebalanceTimeoutMs, protocols });
  }

  /** Same protocols in the same order with the same metadata: the broker then sees no need for a rebalance. */
  matches(protocols: JoinGroupRequest['protocols']): boolean {
    return (
      protocols.length === this.protocols.length &&
      protocols.every(({ name, metadata }, index) => {
        const mine = this.protocols[index];
        return mine?.name === name && mine.metadata.equals(metadata);
      })
    );
  }

  metadataOf(protocol: string | null): Buffer {
    return this.protocols.find(({ name }) => name === protocol)?.metadata ?? Buffer.alloc(0);
  }

  /** Parked in a join or a sync: the coordinator keeps it alive itself. */
  get isParked(): boolean {
    return this.joining !== null || this.syncing !== null;
  }

  answerJoin(answer: JoinGroupResponse): void {
    const { joining } = this;
    this.joining = null;
    joining?.(answer);
  }

  answerSync(errorCode: number): void {
    const { syncing } = this;
    this.syncing = null;
    syncing?.({ errorCode, assignment: errorCode === ErrorCodes.NONE ? this.assignment : Buffer.alloc(0) });
  }
}

export function refusedJoin(errorCode: number, memberId: string): JoinGroupResponse {
  return { errorCode, generation: -1, protocolName: null, leader: '', memberId, members: [] };
}

export function refusedSync(errorCode: number): SyncGroupResponse {
  return { errorCode, assignment: Buffer.alloc(0) };
}
