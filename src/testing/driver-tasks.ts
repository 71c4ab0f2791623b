/**
 * All tasks of a topology, each with its state in memory, run one after the other until nothing is left to do.
 *
 * These are the tasks of a stream thread, with the driver's log in place of the broker. Commits take them through the same steps as an epoch does: flush,
 * freeze, changelog, committed.
 */
import { MillraceError } from '../errors.js';
import { silentLogger } from '../observability/logger.js';
import type { DropReason } from '../processors/operator.js';
import { ActiveTask } from '../runtime/active-task.js';
import { callTimers } from '../runtime/call-timers.js';
import { errorPolicy } from '../runtime/error-policy.js';
import { RecordTimes } from '../runtime/record-times.js';
import { SerdeDefaults } from '../runtime/serde-defaults.js';
import type { OutputCollector, TaskEnvironment } from '../runtime/task-environment.js';
import { TaskMetrics } from '../runtime/task-metrics.js';
import { Task } from '../runtime/task.js';
import { formatTaskId } from '../rebalance/task-id.js';
import { explainWatermarks } from '../runtime/explain-watermarks.js';
import type { WatermarkExplanation } from '../runtime/watermark-explanation.js';
import { announceWatermarks } from '../runtime/watermark-announcement.js';
import { AlignmentGroups } from '../time/watermarks/alignment.js';
import { Wakeup } from '../runtime/wakeup.js';
import type { StateStore } from '../stores/store.js';
import { TaskState } from '../stores/task-state.js';
import type { SubTopology, Topology } from '../topology/nodes.js';
import { subTopologyOrder } from '../topology/sub-topology-order.js';
import { qualifiedName, type TaskId } from '../topology/task-layout.js';
import { storeInfos } from '../queries/store-info.js';
import { StoreQueries } from '../queries/store-queries.js';
import { DriverGlobals } from './driver-globals.js';
import { DriverQueryHost } from './driver-query-host.js';
import type { DriverTopics } from './driver-topics.js';
import type { TestDriverConfig } from './test-driver-config.js';
import type { Randomness } from '../processors/randomness.js';
import type { ReachedWatermark } from './harness-snapshot.js';
import { seededRandomness } from './seeded-randomness.js';
import type { TopicLog } from './topic-log.js';

export interface DriverTasksOptions {
  readonly topology: Topology;
  readonly applicationId: string;
  readonly config: TestDriverConfig;
  readonly topics: DriverTopics;
  readonly log: TopicLog;
  readonly wallClock: () => number;
  /** Fills the stores before any task begins. */
  readonly restore: RestoreStores | null;
  /** The watermark that an earlier life of a task had reached, as an app finds it beside the committed offsets. -Infinity: none. */
  readonly reached: (id: TaskId) => number;
}

/** Gets the store of that name and partition. */
export type RestoreStores = (storeAt: (name: string, partition: number) => Promise<StateStore>) => Promise<void>;

/** A task's state, before there is a task. */
interface OpenedState {
  readonly id: TaskId;
  readonly subTopology: SubTopology;
  readonly names: readonly string[];
  readonly state: TaskState;
  readonly times: RecordTimes;
}

interface RunningTask {
  readonly active: ActiveTask;
  readonly subTopology: SubTopology;
  readonly metrics: TaskMetrics;
}

export class DriverTasks {
  /** A processor asked for a commit since the last one. */
  commitRequested = false;
  private readonly tasks: RunningTask[] = [];
  private epoch = 0;
  private readonly alignment = new AlignmentGroups();
  private readonly callEnded = new Wakeup();

  /** The stores as readers from outside see them. */
  queries!: StoreQueries;
  private isClosed = false;
  private readonly globalMetrics = new TaskMetrics();
  private globals!: DriverGlobals;

  private readonly randomness: Randomness;

  private constructor(private readonly options: DriverTasksOptions) {
    this.randomness = seededRandomness(options.config.seed ?? 0);
  }

  static async open(options: DriverTasksOptions): Promise<DriverTasks> {
    const { topology, config, applicationId } = options;
    const serdes = new SerdeDefaults(config.defaultKeySerde ?? null, config.defaultValueSerde ?? null);
    await serdes.prepare(topology, (name, internal) => qualifiedName(applicationId, { name, internal }));
    const tasks = new DriverTasks(options);
    tasks.globals = await DriverGlobals.open(topology, serdes, tasks.environment(serdes, tasks.globalMetrics));
    tasks.queries = tasks.openQueries(serdes);
    const states: OpenedState[] = [];
    for (const id of options.topics.layout.tasks) states.push(await tasks.openState(id, serdes));
    await options.restore?.(async (name, partition) => restoredStore(states, name, partition));
    for (const state of states) tasks.tasks.push(tasks.openTask(state, serdes));
    // What was restored, and what `init` wrote.
    if (tasks.tasks.some(({ active }) => active.task.dirty)) await tasks.commit();
    await tasks.followCommits();
    return tasks;
  }

  /** Takes in what was written to the log, and runs tasks until nothing is left. */
  async run(): Promise<void> {
    for (;;) {
      await this.deliver();
      let worked = false;
      for (const { active } of this.tasks) worked = (await runTask(active.task)) || worked;
      if (worked) continue;
      if (!this.tasks.some(({ active }) => active.task.unfinishedCount > 0)) return;
      await this.callEnded.wait(longestWaitMs);
    }
  }

  /** Commits everything, and what the commits emit, until nothing is left to commit. */
  async commit(): Promise<void> {
    do {
      await this.run();
      for (const { active } of this.tasks) if (active.task.dirty) await active.task.flush();
      this.epoch++;
      const dirty = this.tasks.filter(({ active }) => active.task.dirty);
      announceWatermarks(
        dirty.map(({ active }) => active.task),
        this.options.log,
      );
      for (const { active } of dirty) active.freeze(this.epoch);
      await this.deliver();
      for (const { active } of dirty) {
        active.committed(this.epoch, this.changelogEnds(active));
        // Rows that have expired leave with it, as they do in an app about once a second.
        await active.state.flush();
      }
    } while (this.tasks.some(({ active }) => hasInput(active.task)));
    this.commitRequested = false;
  }

  /** Ends the input, sub-topology after sub-topology, as a bounded run does. */
  async endInput(): Promise<void> {
    await this.commit();
    for (const group of subTopologyOrder(this.options.topology)) {
      const tasks = this.tasks.filter(({ subTopology }) => group.includes(subTopology.id)).map(({ active }) => active.task);
      // Sub-topologies that feed each other may have more to read after that.
      while (tasks.some(({ ended }) => ended !== 'final')) {
        for (const task of tasks) task.endInput('final');
        await this.commit();
      }
    }
  }

  /** Fires due wall-clock punctuations. */
  async punctuate(now: number): Promise<void> {
    for (const { active } of this.tasks) {
      active.task.punctuate(now);
      await active.task.settled();
    }
    await this.run();
  }

  store(name: string, partition: number): StateStore | undefined {
    const global = this.globals.store(name);
    if (global !== undefined) return global;
    const owner = this.tasks.find(({ active, subTopology }) => subTopology.stores.includes(name) && active.task.partition === partition);
    return owner?.active.state.store(name);
  }

  private openQueries(serdes: SerdeDefaults): StoreQueries {
    return new StoreQueries(
      new DriverQueryHost({
        topology: this.options.topology,
        serdes,
        tasks: this.tasks,
        globals: this.globals.state,
        isClosed: () => this.isClosed,
        requestCommit: () => {
          this.commitRequested = true;
        },
      }),
    );
  }

  /** From the first record on, so that no reader has to wait for a commit that a test may never make. */
  private async followCommits(): Promise<void> {
    for (const { name } of storeInfos(this.queries)) await this.queries.readable(name, {}, (all) => all);
  }

  dropped(): Map<DropReason, number> {
    const total = new Map<DropReason, number>();
    for (const metrics of [...this.tasks.map((task) => task.metrics), this.globalMetrics]) {
      for (const [reason, count] of metrics.dropped) total.set(reason, (total.get(reason) ?? 0) + count);
    }
    return total;
  }

  explainWatermark(operator: string | null): WatermarkExplanation {
    const tasks = this.tasks.map(({ active }) => active.task);
    return explainWatermarks(this.options.topology, tasks, operator, this.options.wallClock());
  }

  /** How far event time is in each task, as a commit would keep it. */
  reached(): ReachedWatermark[] {
    return this.tasks.map(({ active: { task }, subTopology }) => ({
      subTopology: subTopology.id,
      partition: task.partition,
      watermark: task.watermark(),
    }));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { active } of this.tasks) await active.close(true);
    await this.globals.close();
  }

  private async deliver(): Promise<void> {
    for (const chunk of this.options.log.deliver()) {
      await this.globals.apply(chunk);
      for (const { active } of this.tasks) {
        if (active.task.queues.some(({ topic, partition }) => topic === chunk.topic && partition === chunk.partition))
          active.task.addChunk(chunk);
      }
    }
  }

  private changelogEnds({ task }: ActiveTask): Map<string, number> {
    const { log, topics } = this.options;
    const ends = new Map<string, number>();
    for (const id of topics.layout.tasks) {
      if (id.partition !== task.partition) continue;
      for (const { topic, partition } of topics.layout.changelogPartitions(id))
        ends.set(`${topic}-${partition}`, log.end(topic, partition));
    }
    return ends;
  }

  private async openState(id: TaskId, serdes: SerdeDefaults): Promise<OpenedState> {
    const { topology, config } = this.options;
    const subTopology = topology.subTopologies.find((sub) => sub.id === id.subTopology) as SubTopology;
    const specs = subTopology.stores.flatMap((name) => {
      const spec = topology.stores.get(name)?.spec;
      return spec === undefined ? [] : [{ ...spec, engine: 'memory' as const }];
    });
    const times = new RecordTimes(this.options.wallClock);
    const state = await TaskState.open({
      taskId: formatTaskId(id),
      directory: null,
      specs,
      emitsOnCommit: (config.emit ?? 'onCommit') === 'onCommit',
      defaultEngine: 'memory',
      serdes: (spec) => serdes.ofStore(spec),
      cacheBytes: 0,
      logger: config.logger ?? silentLogger,
      recordTimestamp: times.now,
    });
    return { id, subTopology, names: specs.map(({ name }) => name), state, times };
  }

  private openTask({ id, subTopology, names, state, times }: OpenedState, serdes: SerdeDefaults): RunningTask {
    const { topology, topics, applicationId } = this.options;
    const taskId = formatTaskId(id);
    const metrics = new TaskMetrics();
    const env = this.environment(serdes, metrics);
    const task = new Task({
      id: taskId,
      partition: id.partition,
      topology,
      subTopology,
      env,
      inputs: topics.layout.inputPartitions(id).map(({ topic, partition }) => ({
        topic,
        partition,
        sourceNode: topics.sourceOf(topic, id.subTopology),
        offset: 0,
        partitionTime: -1,
        watermark: this.options.reached(id),
        senders: topics.layout.watermarkSenders(topic).map(formatTaskId),
      })),
      lags: { lag: () => 0, isAtEnd: () => true },
      watermarks: {
        targets: topics.layout.watermarkTargets(id.subTopology),
        repeatEvery: Infinity,
        alignment: this.alignment.of(taskId, String(id.subTopology)),
      },
      store: (name) => (names.includes(name) ? state.store(name) : this.globals.store(name)),
      topicOf: (name, internal) => qualifiedName(applicationId, { name, internal }),
      released: () => undefined,
    });
    times.takeFrom(() => task.record.timestamp);
    return { active: new ActiveTask(taskId, task, state, topics.layout.changelogPartitions(id), env.output), subTopology, metrics };
  }

  private environment(serdes: SerdeDefaults, metrics: TaskMetrics): TaskEnvironment {
    const { applicationId, config, log, topics, wallClock } = this.options;
    const output: OutputCollector = {
      partitionCount: (topic) => topics.partitions(topic),
      builder: (topic, partition) => log.builder(topic, partition),
    };
    return {
      applicationId,
      output,
      errors: errorPolicy(config, Infinity),
      // A test waits for nothing.
      pause: () => Promise.resolve(),
      processorWrapper: config.processorWrapper ?? null,
      logger: config.logger ?? silentLogger,
      metrics,
      defaultEmit: config.emit ?? 'onCommit',
      defaultTimestampExtractor: config.defaultTimestampExtractor ?? null,
      maxTaskIdleMs: 0,
      isolation: 'read_uncommitted',
      wallClock,
      randomness: this.randomness,
      requestCommit: () => {
        this.commitRequested = true;
      },
      calls: {
        ...callTimers(metrics, () => {
          this.callEnded.notify();
        }),
        // A test does not wait between two attempts.
        pause: (_ms, run) => {
          const immediate = setImmediate(run);
          return {
            cancel: () => {
              clearImmediate(immediate);
            },
          };
        },
      },
      serde: (serde, node, part) => serdes.compiled(serde, node, part),
    };
  }
}

/** Against a lost wake-up, ms. */
const longestWaitMs = 1000;

/** Runs a task until it has nothing ready; says whether it did anything. */
async function runTask(task: Task): Promise<boolean> {
  let worked = false;
  for (;;) {
    const count = task.run(Infinity);
    const waited = task.isBusy;
    await task.settled();
    if (count === 0 && !waited) return worked;
    worked = true;
  }
}

function hasInput(task: Task): boolean {
  return task.queues.some((queue) => !queue.isEmpty);
}

function restoredStore(states: readonly OpenedState[], name: string, partition: number): StateStore {
  const owner = states.find(({ id, names }) => id.partition === partition && names.includes(name));
  if (owner !== undefined) return owner.state.store(name);
  throw new MillraceError('MILL_INVARIANT', `Store ${name} of partition ${partition} is restored, and there is no such task.`);
}
