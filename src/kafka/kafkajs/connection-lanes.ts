/**
 * The connections of one port, by broker and purpose, opened when first used and opened anew after they broke.
 *
 * A broker serves the requests of one socket strictly in turn. So there are lanes: `main` for everything that is answered at once, `group`
 * for JoinGroup, SyncGroup and heartbeats, which may be parked for a whole rebalance, and per broker up to six `fetch` connections,
 * of which a call takes an idle one: a long poll never delays another fetch.
 */
import { KafkaTransportError } from '../../errors.js';
import type { BrokerConnection } from './broker-connection.js';

export type Lane = 'main' | 'group' | 'fetch';

const FETCH_CONNECTIONS = 6;

interface Slot {
  connection: BrokerConnection | null;
  opening: Promise<BrokerConnection> | null;
  /** Calls that hold the slot, from before its connection is open. */
  users: number;
}

export class ConnectionLanes {
  private readonly slots = new Map<string, Slot[]>();
  private closed = false;

  constructor(private readonly openConnection: (nodeId: number) => Promise<BrokerConnection>) {}

  /** Runs `use` with an open connection of that lane. Rejects as `openConnection` and `use` do. */
  async with<T>(lane: Lane, nodeId: number, use: (connection: BrokerConnection) => Promise<T>): Promise<T> {
    const slot = this.pick(lane, nodeId);
    slot.users++;
    try {
      return await use(await this.connectionOf(slot, nodeId));
    } finally {
      slot.users--;
    }
  }

  hasOpen(lane: Lane, nodeId: number): boolean {
    return this.slots.get(`${lane}:${nodeId}`)?.some((slot) => slot.connection?.isOpen === true) ?? false;
  }

  /** Takes over a connection that was opened before its broker's id was known. */
  adopt(lane: Lane, nodeId: number, connection: BrokerConnection): void {
    const slot = this.pick(lane, nodeId);
    if (slot.connection?.isOpen === true || slot.opening !== null) connection.close('another one is open');
    else slot.connection = connection;
  }

  /** Closes what leads to a broker that moved or left. */
  drop(nodeId: number, reason: string): void {
    for (const lane of ['main', 'group', 'fetch'] as const) {
      for (const slot of this.slots.get(`${lane}:${nodeId}`) ?? []) slot.connection?.close(reason);
      this.slots.delete(`${lane}:${nodeId}`);
    }
  }

  close(): void {
    this.closed = true;
    for (const slots of this.slots.values()) for (const slot of slots) slot.connection?.close('the port was closed');
    this.slots.clear();
  }

  private pick(lane: Lane, nodeId: number): Slot {
    const key = `${lane}:${nodeId}`;
    let slots = this.slots.get(key);
    if (slots === undefined) this.slots.set(key, (slots = []));
    let best = slots[0];
    for (const slot of slots) if (best === undefined || slot.users < best.users) best = slot;
    const limit = lane === 'fetch' ? FETCH_CONNECTIONS : 1;
    if (best === undefined || (best.users > 0 && slots.length < limit)) {
      best = { connection: null, opening: null, users: 0 };
      slots.push(best);
    }
    return best;
  }

  private async connectionOf(slot: Slot, nodeId: number): Promise<BrokerConnection> {
    if (this.closed) throw new KafkaTransportError('The connection to Kafka was closed.');
    if (slot.connection?.isOpen === true) return slot.connection;
    slot.opening ??= this.open(slot, nodeId);
    return slot.opening;
  }

  private async open(slot: Slot, nodeId: number): Promise<BrokerConnection> {
    try {
      const connection = await this.openConnection(nodeId);
      if (this.closed) {
        connection.close('the port was closed');
        throw new KafkaTransportError('The connection to Kafka was closed.');
      }
      slot.connection = connection;
      return connection;
    } finally {
      slot.opening = null;
    }
  }
}
