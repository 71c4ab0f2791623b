/**
 * Finds an open connection to a broker, or to any broker, whatever happened to the cluster in the meantime.
 *
 * When a broker can't be reached where it was, the addresses are read anew from another broker, or from the bootstrap addresses, before the next
 * attempt: a broker that came back elsewhere, or on the same address, is used again. Each call makes one attempt; pauses between
 * attempts are the caller's.
 */
import { KafkaTransportError, MillraceError } from '../../errors.js';
import type { Logger } from '../../observability/logger.js';
import type { ClusterMetadata, ConnectionConfig } from '../port.js';
import { metadata } from '../protocol/metadata.js';
import { BrokerConnection } from './broker-connection.js';
import type { BrokerAddress } from './broker-connection.js';
import { parseBrokerAddress } from './broker-address.js';
import { ClusterView } from './cluster-view.js';
import type { Lane } from './connection-lanes.js';
import { ConnectionLanes } from './connection-lanes.js';
import { createKafkajsConnector } from './kafkajs-internals.js';
import type { KafkajsConnector } from './kafkajs-internals.js';

export class ClusterConnections {
  readonly view = new ClusterView(() => performance.now());
  readonly requestTimeoutMs: number;
  private readonly bootstrap: readonly BrokerAddress[];
  private readonly connector: KafkajsConnector;
  private readonly lanes: ConnectionLanes;
  private addressesInDoubt = false;
  private rereading: Promise<void> | null = null;
  private readonly closing = new AbortController();
  /** Those that lead to no known broker yet. */
  private readonly bootstraps = new Set<BrokerConnection>();

  constructor(
    private readonly config: ConnectionConfig,
    private readonly logger: Logger,
  ) {
    this.bootstrap = config.brokers.map(parseBrokerAddress);
    this.requestTimeoutMs = config.requestTimeoutMs ?? 30_000;
    this.connector = createKafkajsConnector(config, logger);
    this.lanes = new ConnectionLanes((nodeId) => this.open(nodeId));
  }

  /** Runs `use` with a connection to that broker. */
  async with<T>(lane: Lane, nodeId: number, use: (connection: BrokerConnection) => Promise<T>): Promise<T> {
    if (this.addressesInDoubt || this.view.addressOf(nodeId) === null) await (this.rereading ??= this.rereadAddresses());
    return this.lanes.with(lane, nodeId, use);
  }

  /** Runs `use` with any broker that can be reached. Only transport errors make it try the next one. */
  async withAny<T>(use: (connection: BrokerConnection) => Promise<T>): Promise<T> {
    let failure: unknown = new KafkaTransportError('The connection to Kafka was closed.');
    if (this.closing.signal.aborted) throw failure;
    const isOpen = (nodeId: number): boolean => this.lanes.hasOpen('main', nodeId);
    const nodeIds = [...this.view.nodeIds].sort((a, b) => Number(isOpen(b)) - Number(isOpen(a)));
    for (const nodeId of nodeIds) {
      try {
        return await this.lanes.with('main', nodeId, use);
      } catch (error) {
        if (!(error instanceof KafkaTransportError)) throw error;
        failure = error;
      }
    }
    for (const address of this.bootstrap) {
      try {
        return await this.withBootstrap(address, use);
      } catch (error) {
        if (!(error instanceof KafkaTransportError)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  /** Asks for topics (null: all) and takes the answer over. */
  async readMetadata(topics: readonly string[] | null): Promise<ClusterMetadata> {
    const answer = await this.withAny((connection) => connection.send(metadata, { topics }));
    for (const nodeId of this.view.update(answer)) this.lanes.drop(nodeId, 'the broker left or moved');
    this.addressesInDoubt = false;
    return answer;
  }

  close(): void {
    this.closing.abort(new KafkaTransportError('The connection to Kafka was closed.'));
    this.lanes.close();
    for (const connection of this.bootstraps) connection.close('the port was closed');
  }

  private async rereadAddresses(): Promise<void> {
    try {
      await this.readMetadata([]);
    } catch (error) {
      if (error instanceof MillraceError && error.code !== 'MILL_TRANSPORT') throw error;
      this.logger.debug({ err: error }, 'no broker could be asked for the brokers’ addresses');
    } finally {
      this.rereading = null;
    }
  }

  private async open(nodeId: number): Promise<BrokerConnection> {
    const address = this.view.addressOf(nodeId);
    if (address === null)
      throw new KafkaTransportError(`Broker ${nodeId} is not in the cluster’s metadata.`, { details: { broker: nodeId } });
    try {
      return await this.connect(address, nodeId);
    } catch (error) {
      this.addressesInDoubt = true;
      throw error;
    }
  }

  private connect(address: BrokerAddress, nodeId: number | null): Promise<BrokerConnection> {
    return BrokerConnection.open(this.connector, address, {
      nodeId,
      clientId: this.config.clientId,
      requestTimeoutMs: this.requestTimeoutMs,
      signal: this.closing.signal,
    });
  }

  /** The connection is kept as the main one of its broker once the broker's id is known. */
  private async withBootstrap<T>(address: BrokerAddress, use: (connection: BrokerConnection) => Promise<T>): Promise<T> {
    const connection = await this.connect(address, null);
    this.bootstraps.add(connection);
    try {
      return await use(connection);
    } finally {
      // Runs after `use` but before its caller took the answer over, hence the turn of the event loop.
      setImmediate(() => {
        this.bootstraps.delete(connection);
        const nodeId = this.view.nodeAt(address);
        if (nodeId !== null && !this.closing.signal.aborted && connection.isOpen) this.lanes.adopt('main', nodeId, connection);
        else connection.close('it was for the first request only');
      });
    }
  }
}
