import { Fetcher } from '../kafka/fetcher/fetcher.js';
import { MillraceError } from '../errors.js';
import type { KafkaPort } from '../kafka/port.js';
import { EpochMetrics } from '../observability/epoch-metrics.js';
import { LoopLatency } from '../observability/loop-latency.js';
import { GroupMember } from '../rebalance/group-member.js';
import type { GroupMembership } from '../rebalance/group-membership.js';
import { groupViewOf, type GroupView } from '../rebalance/group-view.js';
import { needsRebalanceAfterReturn } from '../rebalance/returned-member.js';
import { StreamsGroupMember, type StreamsGroupMemberOptions } from '../rebalance/streams-group-member.js';
import { streamsMemberId } from '../rebalance/streams-group-view.js';
import { formatTaskId, parseTaskId } from '../rebalance/task-id.js';
import type { TaskState } from '../stores/task-state.js';
import { topologyFingerprint } from '../topology/fingerprint.js';
import { resetPoint } from '../time/offset-reset.js';
import { AlignmentGroups } from '../time/watermarks/alignment.js';
import { decodeCommittedMetadata } from '../transactions/committed-metadata.js';
import { fenceDeadOwners, transactionalIdOf } from '../transactions/dead-owner.js';
import { TransactionalProducer } from '../transactions/producer/transactional-producer.js';
import { callTimers } from './call-timers.js';
import { CurrentPlans } from './current-plans.js';
import type { LocalState } from './local-state.js';
import { LongWaits } from './long-waits.js';
import { EpochRunner } from './epoch-runner.js';
import { GroupCalls } from './group-calls.js';
import { GroupLeader } from './group-leader.js';
import { RetryLedger } from './retry-ledger.js';
import { StandbyTasks } from './standby-tasks.js';
import { StateOpener } from './state-opener.js';
import { StateRestorer } from './state-restorer.js';
import { steadyClock } from './steady-clock.js';
import { StreamThread, type ThreadListener } from './stream-thread.js';
import type { TaskEnvironment } from './task-environment.js';
import { TaskMetrics } from './task-metrics.js';
import { TaskOpener } from './task-opener.js';
import { TaskPlans } from './task-plans.js';
import { releaseOf } from './release-of.js';
import { streamsGroupTopology } from './streams-group-topology.js';
import { ThreadChores } from './thread-chores.js';
import { ThreadOutput } from './thread-output.js';
import type { ThreadSettings } from './thread-settings.js';
import { yieldToIo } from './wakeup.js';

/** A thread with the parts its owner needs: for starting, stopping and metrics. */
export interface BuiltThread {
  /** Of the thread in its process. */
  readonly index: number;
  readonly thread: StreamThread;
  readonly member: GroupMembership;
  readonly producer: TransactionalProducer;
  readonly epochs: EpochRunner;
  readonly fetcher: Fetcher;
  readonly restorer: StateRestorer;
  readonly standbys: StandbyTasks;
  readonly leader: GroupLeader;
  readonly epochMetrics: EpochMetrics;
  readonly loopLatency: LoopLatency;
  readonly taskMetrics: ReadonlyMap<string, TaskMetrics>;
  readonly chores: ThreadChores;
  readonly localState: LocalState;
  /** Number of tasks of a sub-topology; null: not known yet. */
  readonly taskCount: (subTopology: number) => number | null;
  /** States of tasks that are being restored, by task. */
  readonly restoring: ReadonlyMap<string, TaskState>;
  /** Has the group tell every member to stop, this one too: each hears of it as a fatal error, MILL_APPLICATION_SHUTDOWN. */
  readonly shutDownApplication: (reason: string) => void;
}

export interface ThreadPorts {
  /** Records, transactions and the group. */
  readonly main: KafkaPort;
  /** Changelogs: connections of their own, so that a restore never delays the live path. */
  readonly restore: KafkaPort;
  /** For standbys, opened when there is one: their long polls must not delay a restore. */
  readonly standby: () => Promise<KafkaPort>;
}

/** A fetch of one partition fits in. */
const leastStandbyBytes = 1024 * 1024;
/** Of each partition: what is fetched at once goes to LevelDB in one batch, and its write buffer takes a batch whole, however small it is. */
const restoreFetchBytes = 1024 * 1024;
/** Buffers of sent output, kept for the next. */
const mostPooledBytes = 32 * 1024 * 1024;

/** Builds one stream thread over its ports. Nothing is sent before its parts are started. */
export function buildThread(
  settings: ThreadSettings,
  ports: ThreadPorts,
  listener: ThreadListener & { onFatal(error: Error): void; onGroupView(view: GroupView): void },
): BuiltThread {
  const { applicationId, topology, exactlyOnce, logger, stateDirectory, localState } = settings;
  const isolation = exactlyOnce ? 'read_committed' : 'read_uncommitted';
  const transactionalId = exactlyOnce ? transactionalIdOf(applicationId, stateDirectory.processId, settings.index) : null;
  const epochMetrics = new EpochMetrics(Date.now);
  const taskMetrics = new Map<string, TaskMetrics>();
  const retries = new RetryLedger();
  const now = steadyClock();
  const repartitionTopics = new Set([...topology.repartitionTopics.keys()].map((name) => `${applicationId}-${name}`));
  const plans = new CurrentPlans(() => TaskPlans.read(applicationId, topology, ports.main));
  let shutdown: string | undefined;
  let live: { readonly ids: ReadonlySet<string>; readonly generation: number } | null = null;

  const producer = new TransactionalProducer({
    port: ports.main,
    transactionalId,
    transactionTimeoutMs: settings.transactionTimeout,
    compression: settings.compressionType,
    pooledBytes: Math.min(mostPooledBytes, settings.memory.maxUncommittedBytes),
    logger,
    onAbort: (reason) => {
      thread.fail(reason);
    },
  });
  const output = new ThreadOutput(ports.main, producer, logger);
  const fetcher = new Fetcher(ports.main, {
    isolation,
    maxBufferedBytes: () => settings.memory.maxBufferedBytes,
    autoOffsetReset: ({ topic }) => resetPoint(plans.known?.offsetReset(topic) ?? settings.autoOffsetReset, now()),
    logger,
    onData: (chunk) => {
      thread.receive(chunk);
    },
    onError: (error) => {
      thread.fail(error);
    },
  });
  const fence = async (metadata: readonly (string | null)[], signal?: AbortSignal): Promise<unknown> => {
    // A process that was frozen may take itself for a member, and those that replaced it for dead.
    if (!exactlyOnce || (await member.confirmSession()) === 'lost') return [];
    const candidates = metadata.flatMap((text) => decodeCommittedMetadata(text)?.transactionalId ?? []);
    const { generation } = member.identity();
    return fenceDeadOwners({
      port: ports.main,
      applicationId,
      candidates,
      liveTransactionalIds: () => (member.memberStable && live?.generation === member.identity().generation ? live.ids : null),
      refreshMembers: () => member.refreshGroup(),
      isStillCurrent: () => member.identity().generation === generation,
      signal,
      logger,
    });
  };
  const restorer = new StateRestorer({
    port: ports.restore,
    openFetcher: (onData, onError) =>
      new Fetcher(ports.restore, {
        isolation,
        maxBufferedBytes: () => settings.memory.maxBufferedBytes,
        maxBytesPerPartition: restoreFetchBytes,
        autoOffsetReset: () => 'none',
        logger,
        onData,
        onError: (error, partition) => {
          onError(error, partition ?? null);
        },
      }),
    isolation,
    clusterId: settings.clusterId,
    listener: settings.restoreListener,
    logger,
    now,
    fenceDeadOwners: () => fence([]),
  });
  const metricsOf = (taskId: string): TaskMetrics => {
    const metrics = taskMetrics.get(taskId) ?? new TaskMetrics();
    taskMetrics.set(taskId, metrics);
    return metrics;
  };
  const environment = (taskId: string): TaskEnvironment => {
    const metrics = metricsOf(taskId);
    return {
      applicationId,
      output,
      errors: settings.errors,
      retries,
      processorWrapper: settings.processorWrapper,
      logger,
      metrics,
      defaultEmit: settings.defaultEmit,
      defaultTimestampExtractor: settings.defaultTimestampExtractor,
      maxTaskIdleMs: settings.maxTaskIdleMs,
      isolation,
      wallClock: Date.now,
      steadyClock: now,
      requestCommit: () => {
        epochs.requestCommit();
      },
      calls: callTimers(metrics, () => {
        thread.nudge();
      }),
      serde: (serde, node, part) => settings.serdes.compiled(serde, node, part),
    };
  };
  const isOnDisk = (name: string): boolean => (topology.stores.get(name)?.spec.engine ?? settings.storeEngine) === 'leveldb';
  const keepsDatabase = new Set(topology.subTopologies.filter(({ stores }) => stores.some(isOnDisk)).map(({ id }) => id));
  const states = new StateOpener({
    open: (options, shared) => localState.open(options, shared),
    taskDirectory: (taskId) => stateDirectory.taskDirectory(taskId),
    emitsOnCommit: settings.defaultEmit === 'onCommit',
    defaultEngine: settings.storeEngine,
    storeSerdes: (spec) => settings.serdes.ofStore(spec),
    shared: {
      cacheBytes: () => settings.memory.statestoreCacheMaxBytes,
      wanted: () =>
        [...member.ownedTasks.map(formatTaskId), ...standbys.ids].filter((id) => keepsDatabase.has(parseTaskId(id).subTopology)),
    },
    logger,
    metrics: metricsOf,
    onWritten: () => {
      thread.nudge();
    },
  });
  const standbys: StandbyTasks = new StandbyTasks({
    openPort: ports.standby,
    openFetcher: (port, onData, onError) =>
      new Fetcher(port, {
        isolation,
        maxBufferedBytes: () => Math.max(leastStandbyBytes, Math.floor(settings.memory.maxBufferedBytes / 4)),
        autoOffsetReset: () => 'none',
        logger,
        onData,
        onError: (error, partition) => {
          onError(error, partition);
        },
      }),
    planOf: async (taskId) => (await plans.current()).plan(taskId),
    states,
    isolation,
    clusterId: settings.clusterId,
    listener: settings.standbyListener,
    logger,
    pause: yieldToIo,
    clock: () => performance.now(),
    acceptableRecoveryLag: settings.assignment.acceptableRecoveryLag,
    onWarm: (taskId) => {
      member.requestRejoin(`the copy of task ${taskId} has caught up`);
    },
  });
  const opener: TaskOpener = new TaskOpener({
    port: ports.main,
    env: environment,
    groupId: applicationId,
    exactlyOnce,
    autoOffsetReset: settings.autoOffsetReset,
    now,
    states,
    globalStore: settings.globalStore,
    restorer,
    lags: {
      lag: (topic, partition) => {
        const end = exactlyOnce ? fetcher.lastStableOffset({ topic, partition }) : fetcher.highWatermark({ topic, partition });
        return end < 0 ? null : Math.max(0, end - fetcher.position({ topic, partition }));
      },
      isAtEnd: (topic, partition) => fetcher.isAtEnd({ topic, partition }),
    },
    released: (topic, partition, bytes) => {
      fetcher.consumed(bytes, { topic, partition });
    },
    endOf: settings.endOf,
    inputEnded: (topic, partition) => {
      fetcher.unassign({ topic, partition });
    },
    fenceDeadOwners: fence,
    logger,
    alignment: new AlignmentGroups(),
  });
  const thread: StreamThread = new StreamThread({
    fetcher,
    producer,
    restorer,
    opener,
    standbys,
    planOf: async (taskId) => (await plans.current()).plan(taskId),
    listener,
    logger,
    now,
    wallClock: Date.now,
    rebalanceTimeout: settings.rebalanceTimeout,
    maxDueBytes: () => settings.memory.maxUncommittedBytes,
    longWaits: exactlyOnce ? new LongWaits(settings.transactionTimeout, logger) : null,
    onEpochLost: () => {
      epochMetrics.failed++;
    },
  });
  const ownIdentity = { processId: stateDirectory.processId, transactionalId, applicationServer: settings.applicationServer };
  const fingerprint = topologyFingerprint(topology);
  const release = releaseOf(applicationId, topology);
  const leader = new GroupLeader({
    port: ports.main,
    plans,
    topologyFingerprint: fingerprint,
    release,
    assignor: settings.assignor,
    settings: settings.assignment,
    probingRebalanceInterval: settings.probingRebalanceInterval,
    requestRejoin: (reason) => {
      member.requestRejoin(reason);
    },
    logger,
  });
  const groupInstanceId = settings.groupInstanceId === null ? null : `${settings.groupInstanceId}-${settings.index + 1}`;
  const isClassic = settings.groupProtocol === 'classic';
  const calls = new GroupCalls({
    thread,
    refreshPlans: () => plans.refreshWhenReachable(logger, () => member.hasEnded),
    beforeTakingOver: () => {
      for (const topic of repartitionTopics) {
        const senders = plans.known?.senders(topic) ?? [];
        for (const { task } of thread.tasks.values()) task.setSenders(topic, senders);
      }
    },
    takenOver: (assignment) => {
      if (isClassic && groupInstanceId !== null && needsRebalanceAfterReturn(assignment, { ...member.identity(), ...ownIdentity }))
        member.requestRejoin('the assignment is of before this instance came back');
      // Tasks that are opened look for dead owners when those hold them back; output that nothing here reads would stay held back.
      fence([]).catch((error: unknown) => {
        logger.warn({ error: String(error) }, 'could not look for transactions that dead members left open');
      });
    },
    left: (taskId) => retries.left(taskId),
  });
  const groupCallbacks: Pick<StreamsGroupMemberOptions, 'onGroup' | 'onAssigned' | 'onRevoked' | 'onLost' | 'onFatal'> = {
    onGroup: (group) => {
      live = { ids: new Set(group.liveTransactionalIds), generation: group.generation };
      listener.onGroupView(groupViewOf(group, group.generation));
    },
    onAssigned: calls.onAssigned,
    onRevoked: calls.onRevoked,
    onLost: calls.onLost,
    onFatal: (error) => {
      void inOwnWords(error, () => TaskPlans.read(applicationId, topology, ports.main)).then((told) => {
        listener.onFatal(told);
      });
    },
  };
  const member: GroupMembership = isClassic
    ? new GroupMember(ports.main, {
        groupId: applicationId,
        groupInstanceId,
        sessionTimeoutMs: settings.sessionTimeout,
        heartbeatIntervalMs: settings.heartbeatInterval,
        rebalanceTimeoutMs: settings.rebalanceTimeout,
        previousMemberId: stateDirectory.memberId(String(settings.index)) ?? undefined,
        logger,
        subscription: () => ({
          topics: plans.known?.sourceTopics ?? [],
          processId: stateDirectory.processId,
          thread: settings.index,
          transactionalId,
          topologyFingerprint: fingerprint,
          release,
          tasksWithState: localState.tasks,
          standbyTasks: standbys.ids.map(parseTaskId),
          caughtUpTasks: standbys.caughtUp.map(parseTaskId),
          applicationServer: settings.applicationServer,
          tags: settings.clientTags,
          ...(shutdown !== undefined && { shutdown }),
        }),
        inputPartitions: (task) => plans.known?.inputs(formatTaskId(task)) ?? [],
        assign: (members) => leader.assign(members),
        ...groupCallbacks,
        onMemberId: (memberId) => {
          stateDirectory.rememberMember(String(settings.index), memberId === '' ? null : memberId).catch((error: unknown) => {
            logger.warn(
              { error: String(error) },
              'the member id could not be stored: a restart may have to wait for the old session to end',
            );
          });
        },
      })
    : new StreamsGroupMember(ports.main, {
        groupId: applicationId,
        memberId: streamsMemberId(stateDirectory.processId, settings.index),
        groupInstanceId,
        processId: stateDirectory.processId,
        topology: streamsGroupTopology(applicationId, topology, settings.replicationFactor),
        rebalanceTimeoutMs: settings.rebalanceTimeout,
        applicationServer: settings.applicationServer,
        tags: settings.clientTags,
        // A member's id ends as its transactional id does.
        shutsDown: () => shutdown !== undefined,
        transactionalIdOf: (memberId) => `${applicationId}-${memberId}`,
        logger,
        ...groupCallbacks,
      });
  const epochs: EpochRunner = new EpochRunner({
    bounds: {
      commitInterval: settings.commitInterval,
      maxUncommittedBytes: () => settings.memory.maxUncommittedBytes,
    },
    producer,
    tasks: () => thread.tasks.values(),
    member,
    metrics: epochMetrics,
    now,
    onSealed: () => {
      thread.nudge();
    },
    onCommitted: () => {
      retries.committed();
      thread.committed();
    },
    onFailed: (error) => {
      thread.fail(error);
    },
  });
  thread.attach(epochs, member);
  const chores = new ThreadChores({
    port: ports.main,
    stateDirectory,
    isRepartition: (topic) => repartitionTopics.has(topic),
    committed: () => [...thread.tasks.values()].flatMap(({ committedPositions }) => committedPositions),
    refreshOutput: () => output.refresh(),
    topicsChanged: async () => {
      const { known } = plans;
      try {
        const seen = await TaskPlans.read(applicationId, topology, ports.main);
        return known !== null && !known.equals(seen);
      } catch (error) {
        // The rebalance tells it to everybody, and with that it ends the app: going on would leave the new partitions unread.
        if (error instanceof MillraceError && error.code === 'MILL_TOPIC_INCOMPATIBLE') return true;
        throw error;
      }
    },
    onTopicsChanged: () => {
      member.requestRejoin('topics or partition counts have changed');
    },
    ownedTasks: () => new Set([...member.ownedTasks.map(formatTaskId), ...thread.owned, ...thread.tasks.keys()]),
    stateCleanupDelay: settings.stateCleanupDelay,
    localState,
    standbys,
    logger,
  });
  return {
    index: settings.index,
    taskCount: (subTopology) => plans.known?.taskCount(subTopology) ?? null,
    restoring: opener.restoring,
    shutDownApplication: (reason) => {
      shutdown = reason;
      member.requestRejoin('the application is to stop');
    },
    chores,
    thread,
    member,
    leader,
    producer,
    epochs,
    fetcher,
    restorer,
    standbys,
    epochMetrics,
    loopLatency: new LoopLatency(),
    taskMetrics,
    localState,
  };
}

/** A coordinator says of partition counts that they do not fit. What they are of, and what to do, our own look at the topics tells. */
async function inOwnWords(error: Error, look: () => Promise<unknown>): Promise<Error> {
  if (!(error instanceof MillraceError) || error.code !== 'MILL_TOPOLOGY_NOT_COPARTITIONED') return error;
  try {
    await look();
  } catch (seen) {
    if (seen instanceof MillraceError && (seen.code === 'MILL_TOPIC_INCOMPATIBLE' || seen.code === error.code)) return seen;
  }
  return error;
}
