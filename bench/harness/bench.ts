/** What every row works with: the cluster, the inputs, and the two sides' programs. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Keeper } from '../../scripts/stack/keeper.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import type { Inputs } from '../input/inputs.js';
import type { BenchOptions } from '../options.js';
import type { ProgramArguments } from './arguments.js';
import type { JavaSide } from './java-side.js';
import type { NodeProgram, NodeSide } from './node-side.js';
import type { Command } from './side-process.js';
import { SideProcess } from './side-process.js';

/** `theirs` is Kafka Streams, or kafkajs in the rows of raw records. */
export type Side = 'ours' | 'theirs';
export const sides: readonly Side[] = ['ours', 'theirs'];

export const partitions = 4;

/** Whom an app is compared with. */
export type AppRival = 'Kafka Streams' | '@kafkats/flow' | 'kafkajs';
const rivalPrograms: Readonly<Record<Exclude<AppRival, 'Kafka Streams'>, NodeProgram>> = {
  '@kafkats/flow': 'kafkats/app',
  kafkajs: 'kafkajs/loop',
};

export class Bench {
  readonly brokers: string;
  private names = 0;

  constructor(
    readonly options: BenchOptions,
    readonly port: KafkaPort,
    readonly inputs: Inputs,
    private readonly parts: {
      readonly brokers: readonly string[];
      /** Null when no row needs a schema registry. */
      readonly registryUrl: string | null;
      readonly scratch: string;
      readonly node: NodeSide;
      readonly java: JavaSide | null;
      readonly keeper: Keeper;
    },
  ) {
    this.brokers = parts.brokers.join(',');
  }

  get warmUp(): number {
    return Math.ceil(this.options.records / 4);
  }

  /** Never used before: for topics, applications and folders of one round. */
  freshName(what: string): string {
    return `bench-${what}-${++this.names}`;
  }

  async freshTopic(what: string, partitionCount = partitions): Promise<string> {
    const topic = this.freshName(what);
    const [created] = await this.port.admin.createTopics([{ topic, partitions: partitionCount, replicationFactor: -1, configs: {} }]);
    if (created?.errorCode !== 0) throw new Error(`Topic ${topic}: ${created?.errorMessage ?? 'not created'}`);
    return topic;
  }

  async stateDirectory(applicationId: string): Promise<string> {
    const folder = join(this.parts.scratch, 'state', applicationId);
    await mkdir(folder, { recursive: true });
    return folder;
  }

  /** Deletes the given topics and the application's own. */
  async removeApplication(applicationId: string, topics: readonly string[]): Promise<void> {
    const { topics: present } = await this.port.metadata('all');
    const internal = [...present.keys()].filter((topic) => topic.startsWith(`${applicationId}-`) && !topics.includes(topic));
    await this.port.admin.deleteTopics([...topics, ...internal]);
  }

  /** Starts a streams app of one side; `rival`: what theirs is. */
  startApp(side: Side, values: ProgramArguments, rival: AppRival = 'Kafka Streams'): SideProcess {
    if (side === 'ours') return this.startProgram('ours/app', values);
    if (rival !== 'Kafka Streams') return this.startProgram(rivalPrograms[rival], values);
    const all = { bootstrap: this.brokers, ...values };
    if (this.parts.java === null) throw new Error('The Kafka Streams side was not built');
    return this.start(this.parts.java.command(all));
  }

  startProgram(program: NodeProgram, values: ProgramArguments): SideProcess {
    return this.start(this.parts.node.command(program, { bootstrap: this.brokers, ...this.registry, ...values }));
  }

  private get registry(): ProgramArguments {
    const { registryUrl } = this.parts;
    return registryUrl === null ? {} : { registry: registryUrl };
  }

  private start(command: Command): SideProcess {
    return new SideProcess(command, this.parts.keeper);
  }
}
