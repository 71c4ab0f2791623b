/**
 * What is known of the cluster: where its brokers are and who leads which partition.
 *
 * Filled from Metadata answers (of which later ones replace earlier ones, topic by topic) and FindCoordinator; read by the port.
 * Nothing in here expires by itself except that `topics` forgets what is older than five minutes: whoever meets a wrong leader asks anew.
 */
import { ErrorCodes } from '../error-codes.js';
import type { ClusterMetadata, TopicMetadata } from '../port.js';
import type { BrokerAddress } from './broker-connection.js';

const MAX_AGE_MS = 5 * 60_000;

type BrokerNode = ClusterMetadata['brokers'][number];

export class ClusterView {
  private clusterId: string | null = null;
  private controllerId = -1;
  private nodes: ReadonlyMap<number, BrokerNode> = new Map();
  private readonly topics = new Map<string, { readonly topic: TopicMetadata; readonly readAt: number }>();

  constructor(private readonly now: () => number) {}

  get nodeIds(): readonly number[] {
    return [...this.nodes.keys()];
  }

  get controller(): number {
    return this.controllerId;
  }

  addressOf(nodeId: number): BrokerAddress | null {
    return this.nodes.get(nodeId) ?? null;
  }

  nodeAt({ host, port }: BrokerAddress): number | null {
    for (const node of this.nodes.values()) if (node.host === host && node.port === port) return node.nodeId;
    return null;
  }

  /** Takes an answer over; returns the brokers that left or moved. */
  update(metadata: ClusterMetadata): readonly number[] {
    const before = this.nodes;
    this.clusterId = metadata.clusterId;
    this.controllerId = metadata.controllerId;
    this.nodes = new Map(metadata.brokers.map((node) => [node.nodeId, node]));
    const readAt = this.now();
    for (const topic of metadata.topics.values()) this.topics.set(topic.name, { topic, readAt });
    const gone: number[] = [];
    for (const node of before.values()) {
      const after = this.nodes.get(node.nodeId);
      if (after === undefined || after.host !== node.host || after.port !== node.port) gone.push(node.nodeId);
    }
    return gone;
  }

  /** A broker told by FindCoordinator before any Metadata answer has it. */
  learn(nodeId: number, { host, port }: BrokerAddress): void {
    if (this.nodes.has(nodeId)) return;
    this.nodes = new Map([...this.nodes, [nodeId, { nodeId, host, port, rack: null }]]);
  }

  forgetTopics(names: readonly string[]): void {
    for (const name of names) this.topics.delete(name);
  }

  /** The topics when all of them are known, recent and have leaders; null when the broker has to be asked. */
  known(names: readonly string[]): ClusterMetadata | null {
    const topics = new Map<string, TopicMetadata>();
    const oldest = this.now() - MAX_AGE_MS;
    for (const name of names) {
      const entry = this.topics.get(name);
      if (entry === undefined || entry.readAt < oldest || entry.topic.errorCode !== ErrorCodes.NONE) return null;
      if (entry.topic.partitions.some((partition) => partition.leader < 0)) return null;
      topics.set(name, entry.topic);
    }
    return { clusterId: this.clusterId, controllerId: this.controllerId, brokers: [...this.nodes.values()], topics };
  }
}
