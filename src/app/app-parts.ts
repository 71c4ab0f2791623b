import { MillraceError } from '../errors.js';
import { delay } from '../kafka/backoff.js';
import type { IsolationLevel, KafkaPort } from '../kafka/port.js';
import { errorPolicy } from '../runtime/error-policy.js';
import { GlobalTables } from '../runtime/global-tables.js';
import { LocalState } from '../runtime/local-state.js';
import type { SerdeDefaults } from '../runtime/serde-defaults.js';
import { buildThread, type BuiltThread } from '../runtime/thread-factory.js';
import { EngineMemory } from '../stores/engine-memory.js';
import type { InstanceDirectory } from '../stores/state-directory.js';
import type { Topology } from '../topology/nodes.js';
import { qualifiedName } from '../topology/task-layout.js';
import { storesOf } from '../topology/stores-of.js';
import type { AppListener, StartOptions } from './app-engine.js';
import type { PartsPlatform } from './app-platform.js';
import { BoundedRun } from './bounded-run.js';
import type { ResolvedConfig } from './config.js';
import { chooseGroupProtocol } from './group-protocol-choice.js';
import { prepareTopics } from './internal-topics.js';
import { threadSettings } from './thread-settings.js';

/** How long a stop that no longer waits for the broker may still take for the local state, ms. */
const abandonWithinMs = 1000;

/**
 * What an app opens at its start, in order, and gives back at its end: the state directory, connections, global tables, the thread and its place in the group.
 * Which state that puts the app in is the app's to say.
 *
 * Invariants: once `close` is called `open` goes no further, and what it has opened by then is given back; every step of `close` happens, whatever becomes of the ones before it.
 */
export class AppParts {
  directory: InstanceDirectory | null = null;
  built: BuiltThread | null = null;
  globals: GlobalTables | null = null;
  localState: LocalState | null = null;
  /** Where a bounded run ends is known once the topics are. */
  run: BoundedRun | null = null;
  private paused = false;
  private readonly ports: KafkaPort[] = [];
  /** `open` under way or done: `close` waits until it opens nothing more. */
  private opening: Promise<void> | null = null;
  private readonly closed = new AbortController();
  /** Rejects when `close` is called. */
  private readonly whenClosed = new Promise<never>((_, reject) => {
    const { signal } = this.closed;
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
  private readonly isolation: IsolationLevel;

  constructor(
    private readonly topology: Topology,
    private readonly config: ResolvedConfig,
    private readonly serdes: SerdeDefaults,
    private readonly platform: PartsPlatform,
    private readonly listener: AppListener,
    /** Of the stream thread in its process. */
    private readonly index = 0,
  ) {
    this.isolation = config.processingGuarantee === 'exactly_once' ? 'read_committed' : 'read_uncommitted';
    this.whenClosed.catch(() => undefined);
  }

  /** Resolves when the group has given this instance its tasks. Throws MILL_STATE_INVALID when `close` came in between. */
  open(options: StartOptions): Promise<void> {
    this.opening = this.openInOrder(options);
    return this.opening;
  }

  get isPaused(): boolean {
    return this.paused;
  }

  /** Whether tasks stand still, those that come later included. */
  set isPaused(paused: boolean) {
    this.paused = paused;
    if (this.built !== null) this.built.thread.isPaused = paused;
  }

  /** The share of this thread in the memory for cached rows has changed. */
  shareCache(): void {
    this.localState?.shareCache(this.config.statestoreCacheMaxBytes);
  }

  /**
   * Throws what failed first.
   *
   * @param clean whether what is processed is committed before
   * @param leaveGroup whether other instances get the tasks now; null: as is the rule for the member
   * @param handoverMs how long the tasks may go on until the other instances have heard of it; tasks that do not run are handed over at once
   */
  async close(clean: boolean, leaveGroup: boolean | null, handoverMs: number): Promise<void> {
    this.closed.abort(new MillraceError('MILL_STATE_INVALID', 'the app is being shut down'));
    const faults: unknown[] = [];
    const step = async (work: () => Promise<unknown> | undefined): Promise<void> => {
      try {
        await work();
      } catch (error) {
        faults.push(error);
        this.config.logger.error({ err: error }, 'a part of the app failed to close');
      }
    };
    const { built } = this;
    if (built !== null) {
      built.chores.stop();
      built.loopLatency.stop();
      built.leader.cancelProbe();
      if (clean) await step(() => built.member.leave(leaveGroup, built.thread.standsStill ? 0 : handoverMs));
      await step(() => built.thread.stop(clean));
      if (!clean) await step(() => built.member.leave(null, 0));
    }
    await step(() => this.globals?.close());
    await step(() => Promise.all(this.ports.map((port) => port.close())));
    await this.opening?.catch(() => undefined);
    await step(() => this.directory?.release());
    if (faults.length > 0) throw faults[0];
  }

  /** Lets go of everything without waiting for it: the group and the broker notice by their timeouts. */
  async abandon(): Promise<void> {
    const { built } = this;
    built?.chores.stop();
    built?.loopLatency.stop();
    built?.leader.cancelProbe();
    built?.member.stop();
    const stopped = Promise.allSettled([built?.thread.stop(false), this.globals?.close()]);
    await Promise.race([stopped, delay(abandonWithinMs)]);
    await Promise.allSettled(this.ports.map((port) => port.close()));
    await this.directory?.release();
  }

  private async openInOrder({ restoreListener, standbyListener, bounds }: StartOptions): Promise<void> {
    const { config, topology, isolation } = this;
    const { applicationId, logger } = config;
    const directory = await this.platform.openDirectory({ stateDir: config.stateDir, applicationId, stores: storesOf(topology) });
    this.directory = directory;
    this.mustBeOpen();
    const localState = await LocalState.read(directory, new EngineMemory(config.storeEngineMaxBytes, logger), logger);
    this.localState = localState;
    this.mustBeOpen();
    const [main, restore] = [this.openPort('main'), this.openPort('restore')];
    await this.unlessClosed(Promise.all([main.connect(), restore.connect()]));
    await this.unlessClosed(this.serdes.prepare(topology, (name, internal) => qualifiedName(applicationId, { name, internal })));
    await this.unlessClosed(
      prepareTopics({
        port: main,
        topology,
        applicationId,
        replicationFactor: config.replicationFactor,
        deadLetterTopic: config.deadLetterTopic,
        logger,
      }),
    );
    const groupProtocol = await this.unlessClosed(chooseGroupProtocol({ port: main, topology, config }));
    const { clusterId } = await this.unlessClosed(main.metadata([]));
    if (bounds !== null) {
      this.run = await this.unlessClosed(BoundedRun.begin({ port: main, applicationId, topology, isolation, end: bounds, logger }));
    }
    await this.unlessClosed(this.openGlobals());
    const built = buildThread(
      threadSettings(config, {
        topology,
        index: this.index,
        serdes: this.serdes,
        stateDirectory: directory,
        localState,
        clusterId,
        restoreListener,
        standbyListener,
        globalStore: (name) => this.globals?.store(name),
        endOf: (topic, partition) => this.run?.endOf(topic, partition),
        groupProtocol,
      }),
      { main, restore, standby: () => this.openStandbyPort() },
      this.listener,
    );
    this.built = built;
    built.thread.isPaused = this.paused;
    await this.unlessClosed(built.producer.init());
    built.thread.start();
    built.loopLatency.start();
    await this.unlessClosed(built.member.start());
    built.chores.start();
  }

  /** A step of the start must not hold a shutdown up, and nothing is opened after it. */
  private async unlessClosed<T>(step: Promise<T>): Promise<T> {
    const result = await Promise.race([step, this.whenClosed]);
    this.mustBeOpen();
    return result;
  }

  private mustBeOpen(): void {
    this.closed.signal.throwIfAborted();
  }

  private openPort(purpose: string): KafkaPort {
    const { config } = this;
    const port = this.platform.openPort(
      {
        brokers: config.bootstrapServers,
        clientId: `${config.clientId}-${purpose}`,
        ssl: config.ssl,
        sasl: config.sasl,
        requestTimeoutMs: config.requestTimeout,
      },
      config.logger,
    );
    this.ports.push(port);
    return port;
  }

  private async openStandbyPort(): Promise<KafkaPort> {
    const port = this.openPort('standby');
    await port.connect();
    return port;
  }

  private async openGlobals(): Promise<void> {
    const { config, topology, serdes, isolation } = this;
    if (topology.globalStores.size === 0) return;
    const port = this.openPort('global');
    await port.connect();
    this.mustBeOpen();
    this.globals = new GlobalTables({
      applicationId: config.applicationId,
      port,
      topology,
      isolation,
      serdes,
      errors: errorPolicy(config, Infinity),
      processorWrapper: config.processorWrapper,
      compressionType: config.compressionType,
      logger: config.logger,
      onError: (error) => {
        this.listener.onError(error, null);
      },
    });
    await this.globals.start();
  }
}
