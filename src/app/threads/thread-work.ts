import { MillraceError } from '../../errors.js';
import { silentLogger } from '../../observability/logger.js';
import { SerdeDefaults } from '../../runtime/serde-defaults.js';
import type { StandbyUpdateListener } from '../../runtime/standby-listener.js';
import type { RestoreListener } from '../../runtime/state-restorer.js';
import { StoreQueries } from '../../queries/store-queries.js';
import { emptyGroupView } from '../../rebalance/group-view.js';
import type { Topology } from '../../topology/nodes.js';
import { checkTopology } from '../../topology/checked-topology.js';
import { topologyFingerprint } from '../../topology/fingerprint.js';
import type { AppListener, EndOffsets } from '../app-engine.js';
import { refreshSizes, snapshotMetrics, type OwnMetrics } from '../app-metrics.js';
import { AppQueryHost } from '../app-query-host.js';
import { AppParts } from '../app-parts.js';
import { realPlatform } from '../app-platform.js';
import { resolveConfig, type ResolvedConfig } from '../config.js';
import { leastBufferedBytes, leastUncommittedBytes } from '../memory-shares.js';
import { loadTopologyModule } from '../topology-module.js';
import { sendingLogger } from './bridged-logger.js';
import { MessageCalls, type MessageWire } from './message-calls.js';
import { sendError } from './sent-error.js';
import { ServedQueries } from './served-queries.js';
import { ThreadDirectory } from './thread-directory.js';
import type { AppSide, RestoreEvent, StandbyEvent, ThreadReport, ThreadSetup, ThreadSide, ThreadStart } from './thread-protocol.js';

/** What the app knows, not the thread. */
const unknownHere: OwnMetrics = {
  state: 'running',
  paused: false,
  restarts: { numRestarts: 0, uncaughtErrors: 0, attempt: 0, lastFailure: null },
};
/** How often a thread tells how it stands, ms. */
const reportEveryMs = 500;

/**
 * One stream thread in a worker: an app's parts as in the caller's thread, with the app at the other end of a message port. Whatever the app has to know or decide is
 * told or asked there.
 */
export class ThreadWork {
  private readonly app: MessageCalls<ThreadSide, AppSide>;
  private readonly directory: ThreadDirectory;
  private parts: AppParts | null = null;
  private topology: Topology | null = null;
  private queries: ServedQueries | null = null;
  private shares: number;
  private isPaused: boolean;
  private reports: NodeJS.Timeout | null = null;
  /** What goes on once the app has answered, by the number of the error. */
  private readonly undecided = new Map<number, (pauseMs: number) => void>();
  private errors = 0;
  private readonly closed = new AbortController();

  constructor(
    wire: MessageWire,
    private readonly setup: ThreadSetup,
  ) {
    this.shares = setup.shares;
    this.isPaused = setup.isPaused;
    this.app = new MessageCalls<ThreadSide, AppSide>(
      wire,
      {
        start: (options) => this.start(options),
        close: ({ clean, leaveGroup, handoverMs }) => this.close(clean, leaveGroup, handoverMs),
        abandon: async () => {
          this.end();
          await this.parts?.abandon();
          return null;
        },
        untilComplete: () => this.untilComplete(),
        read: async ({ read, question }) => this.served().read(read, question),
        query: async (request) => this.served().query(request),
        page: async (rows) => this.served().page(rows),
        closeRows: async (rows) => {
          await this.served().close(rows);
          return null;
        },
      },
      {
        paused: (paused) => {
          this.isPaused = paused;
          if (this.parts !== null) this.parts.isPaused = paused;
        },
        restart: ({ number, pauseMs }) => {
          this.undecided.get(number)?.(pauseMs);
          this.undecided.delete(number);
        },
        reportNow: () => {
          refreshSizes(this.parts?.built ?? null, this.parts?.globals ?? null);
          this.app.tell('report', this.report());
        },
        giveUpCommit: () => {
          this.parts?.built?.thread.stop(false).catch(() => undefined);
        },
        shutDownApplication: (reason) => {
          this.parts?.built?.shutDownApplication(reason);
        },
        claimed: (taskId) => {
          this.parts?.localState?.removed([taskId]);
        },
        removed: (taskIds) => {
          this.parts?.localState?.removed(taskIds);
        },
        shares: (shares) => {
          this.shares = shares;
          this.parts?.shareCache();
        },
      },
    );
    this.directory = new ThreadDirectory(setup, this.app);
  }

  private async start(options: ThreadStart): Promise<ThreadReport> {
    const { setup, app } = this;
    const { topology, config } = await loadTopologyModule(setup.module, setup.config, setup.index);
    checkTopology(topology, `the topology module ${setup.module}`);
    if (topologyFingerprint(topology) !== setup.topologyFingerprint) {
      throw new MillraceError(
        'MILL_TOPOLOGY_MISMATCH',
        `the topology module ${setup.module} gave thread ${setup.index} another topology than the app`,
      );
    }
    const own = setup.isSilent ? silentLogger : sendingLogger((message) => app.tell('log', message));
    const resolved = resolveConfig({ ...config, logger: config.logger ?? own });
    const serdes = new SerdeDefaults(resolved.defaultKeySerde, resolved.defaultValueSerde);
    this.closed.signal.throwIfAborted();
    this.topology = topology;
    const platform = { ...realPlatform, openDirectory: () => Promise.resolve(this.directory) };
    this.parts = new AppParts(topology, this.shared(resolved), serdes, platform, this.listener(), setup.index);
    this.queries = new ServedQueries(new StoreQueries(this.queryHost(topology, serdes)));
    this.parts.isPaused = this.isPaused;
    await this.parts.open({
      restoreListener: this.restoreListener(options.restoreEvents),
      standbyListener: this.standbyListener(options.standbyEvents),
      bounds: options.bounds,
    });
    this.reports = setInterval(() => app.tell('report', this.report()), reportEveryMs);
    this.reports.unref();
    return this.report();
  }

  private async close(clean: boolean, leaveGroup: boolean | null, handoverMs: number): Promise<ThreadReport> {
    this.end();
    await this.parts?.close(clean, leaveGroup, handoverMs);
    return this.report();
  }

  private end(): void {
    if (this.reports !== null) clearInterval(this.reports);
    this.closed.abort(new MillraceError('MILL_STATE_INVALID', 'the stream thread is being closed'));
  }

  private async untilComplete(): Promise<EndOffsets> {
    const { run = null, built = null } = this.parts ?? {};
    if (run === null || built === null) throw new MillraceError('MILL_INVARIANT', 'a bounded run has begun without bounds');
    await run.untilComplete(built, this.closed.signal);
    return run.offsets;
  }

  private served(): ServedQueries {
    if (this.queries === null) throw new MillraceError('MILL_STATE_INVALID', 'the stream thread is not started');
    return this.queries;
  }

  /** The app has refused what comes at a wrong time. */
  private queryHost(topology: Topology, serdes: SerdeDefaults): AppQueryHost {
    return new AppQueryHost({
      topology,
      serdes,
      state: () => 'running',
      built: () => this.parts?.built ?? null,
      globals: () => this.parts?.globals ?? null,
      groupView: () => emptyGroupView,
      processId: () => this.directory.processId,
    });
  }

  private report(): ThreadReport {
    const { built = null, globals = null } = this.parts ?? {};
    const tasks = [...(built?.thread.tasks.values() ?? [])];
    return {
      metrics: snapshotMetrics(unknownHere, built, globals),
      taskCounts: this.taskCounts(),
      watermarks: tasks.flatMap(({ task }) => task.explainWatermark() ?? []),
    };
  }

  private taskCounts(): Record<number, number> {
    const counts: Record<number, number> = {};
    for (const { id } of this.topology?.subTopologies ?? []) {
      const count = this.parts?.built?.taskCount(id) ?? null;
      if (count !== null) counts[id] = count;
    }
    return counts;
  }

  /** The bounds of memory are those of the app: each thread has its share. */
  private shared(config: ResolvedConfig): ResolvedConfig {
    const share = (bytes: number, least: number): number => Math.max(least, Math.floor(bytes / this.shares));
    return {
      ...config,
      clientId: `${config.clientId}-thread-${this.setup.index}`,
      get statestoreCacheMaxBytes() {
        return share(config.statestoreCacheMaxBytes, 0);
      },
      get maxUncommittedBytes() {
        return share(config.maxUncommittedBytes, leastUncommittedBytes);
      },
      get maxBufferedBytes() {
        return share(config.maxBufferedBytes, leastBufferedBytes);
      },
    };
  }

  private listener(): AppListener {
    const { app } = this;
    return {
      onActivity: (activity) => {
        app.tell('report', this.report());
        app.tell('activity', activity);
      },
      onError: (error, restart) => {
        const number = restart === null ? null : ++this.errors;
        if (restart !== null && number !== null) this.undecided.set(number, restart);
        app.tell('error', { error: sendError(error), restart: number });
      },
      onFatal: (error) => app.tell('fatal', sendError(error)),
      onGroupView: (view) => app.tell('groupView', view),
    };
  }

  private restoreListener(wanted: readonly RestoreEvent[]): RestoreListener {
    const tell = (event: RestoreEvent): RestoreListener[RestoreEvent] =>
      wanted.includes(event) ? (progress) => this.app.tell('restore', { event, progress }) : undefined;
    return { onStart: tell('onStart'), onBatch: tell('onBatch'), onEnd: tell('onEnd') };
  }

  private standbyListener(wanted: readonly StandbyEvent[]): StandbyUpdateListener {
    const tell = (event: StandbyEvent): StandbyUpdateListener['onUpdateSuspended'] =>
      wanted.includes(event) ? (progress, reason = 'migrated') => this.app.tell('standby', { event, progress, reason }) : undefined;
    return {
      onUpdateStart: tell('onUpdateStart') as StandbyUpdateListener['onUpdateStart'],
      onBatch: tell('onBatch') as StandbyUpdateListener['onBatch'],
      onUpdateSuspended: tell('onUpdateSuspended'),
    };
  }
}
