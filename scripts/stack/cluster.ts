/**
 * A Kafka cluster of one or three nodes in KRaft mode, out of the jars in the cache.
 *
 * A node keeps its ports and its folder for life, so that it can be killed and started again with what it had written.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Kafka, logLevel } from 'kafkajs';
import type { Admin } from 'kafkajs';
import { allowOrdinaryUser } from './access-rules.js';
import type { BrokerAddress } from './broker-properties.js';
import { brokerProperties } from './broker-properties.js';
import { newClusterId } from './cluster-id.js';
import type { StackCredentials } from './credentials.js';
import { until } from './deadline.js';
import { leaveNothing } from './java.js';
import type { Keeper } from './keeper.js';
import { freePorts } from './ports.js';
import { Service } from './service.js';
import type { BrokerCount } from './settings.js';
import { brokerJvmArguments } from './settings.js';

const run = promisify(execFile);

export interface ClusterOptions {
  readonly java: string;
  /** The folder of Kafka's jars. */
  readonly jars: string;
  /** Where the nodes write. */
  readonly folder: string;
  readonly brokers: BrokerCount;
  readonly credentials: StackCredentials | null;
  readonly keeper: Keeper;
}

interface Node extends BrokerAddress {
  service: Service | null;
}

export class Cluster {
  private constructor(
    private readonly options: ClusterOptions,
    private readonly nodes: readonly Node[],
  ) {}

  /** Formats and starts the nodes, and resolves when all of them answer and know each other. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const ports = await freePorts(2 * options.brokers);
    const nodes: Node[] = [];
    for (let id = 1; id <= options.brokers; id++) {
      const [port = 0, controllerPort = 0] = ports.slice(2 * (id - 1));
      nodes.push({ id, port, controllerPort, folder: join(options.folder, `broker-${id}`), service: null });
    }
    const cluster = new Cluster(options, nodes);
    const clusterId = newClusterId();
    try {
      await Promise.all(nodes.map((node) => cluster.format(node, clusterId)));
      await Promise.all(nodes.map((node) => cluster.run(node)));
      await cluster.ready();
      if (options.credentials) await cluster.withAdmin(allowOrdinaryUser);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get bootstrapServers(): string[] {
    return this.nodes.map(({ port }) => `127.0.0.1:${port}`);
  }

  get pids(): number[] {
    return this.nodes.flatMap(({ service }) => (service ? [service.pid] : []));
  }

  /** Ends one node by `signal` and starts it again on the same ports and data; resolves when the whole cluster answers. */
  async restart(id: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const node = this.nodes.find((candidate) => candidate.id === id);
    if (!node) throw new Error(`No broker ${id}; there are ${this.nodes.length}`);
    await node.service?.stop(signal);
    node.service = null;
    await this.run(node);
    await this.ready();
  }

  /** Kills every node: nothing of it is needed any more. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(async (node) => node.service?.stop('SIGKILL')));
  }

  private async format(node: Node, clusterId: string): Promise<void> {
    await mkdir(join(node.folder, 'tmp'), { recursive: true });
    const config = configFile(node);
    await writeFile(config, brokerProperties(node, this.nodes, this.options.credentials));
    await run(
      this.options.java,
      this.javaArguments(
        node,
        ['-XX:TieredStopAtLevel=1', '-Xmx256m'],
        ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', config],
      ),
    );
  }

  private async run(node: Node): Promise<void> {
    node.service = await Service.start(
      {
        name: `Kafka broker ${node.id}`,
        command: this.options.java,
        args: this.javaArguments(node, brokerJvmArguments, ['kafka.Kafka', configFile(node)]),
        logFile: join(node.folder, 'server.log'),
      },
      this.options.keeper,
    );
  }

  private javaArguments(node: Node, jvm: readonly string[], rest: readonly string[]): string[] {
    const logging = `-Dlog4j2.configurationFile=${join(import.meta.dirname, 'log4j2.properties')}`;
    return [...jvm, ...leaveNothing(join(node.folder, 'tmp')), logging, '-cp', join(this.options.jars, '*'), ...rest];
  }

  /** Every node itself must answer: the others list a node that was just killed for some seconds more. */
  private ready(): Promise<void> {
    return until(
      'Kafka did not get ready',
      90_000,
      async () => {
        for (const { port } of this.nodes) {
          const { brokers } = await this.withAdmin((admin) => admin.describeCluster(), port);
          if (brokers.length !== this.nodes.length) return false;
        }
        return true;
      },
      () => {
        for (const { service } of this.nodes) service?.assertRunning();
      },
    );
  }

  private async withAdmin<T>(use: (admin: Admin) => Promise<T>, port = this.nodes[0]?.port): Promise<T> {
    const { credentials } = this.options;
    const admin = new Kafka({
      clientId: 'millrace-stack',
      brokers: [`127.0.0.1:${port}`],
      logLevel: logLevel.NOTHING,
      retry: { retries: 0 },
      ...(credentials && { sasl: { mechanism: 'plain', ...credentials.superUser } }),
    }).admin();
    try {
      await admin.connect();
      return await use(admin);
    } finally {
      await admin.disconnect();
    }
  }
}

function configFile(node: BrokerAddress): string {
  return join(node.folder, 'server.properties');
}
