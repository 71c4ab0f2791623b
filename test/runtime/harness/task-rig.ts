/** One task of a topology with its state in memory, a log in place of the broker, and everything that it tells recorded. */
import type { Headers } from '../../../src/bytes/headers.js';
import type { Logger } from '../../../src/observability/logger.js';
import { ActiveTask, type TaskBarrier } from '../../../src/runtime/active-task.js';
import { callTimers } from '../../../src/runtime/call-timers.js';
import { failAlways, type ErrorPolicy } from '../../../src/runtime/error-policy.js';
import { SerdeDefaults } from '../../../src/runtime/serde-defaults.js';
import type { TaskEnvironment } from '../../../src/runtime/task-environment.js';
import { TaskMetrics } from '../../../src/runtime/task-metrics.js';
import { Task } from '../../../src/runtime/task.js';
import type { TaskOptions } from '../../../src/runtime/task-options.js';
import { TaskState } from '../../../src/stores/task-state.js';
import { TopicLog, type LoggedRecord } from '../../../src/testing/topic-log.js';
import { AlignmentGroups } from '../../../src/time/watermarks/alignment.js';
import type { SubTopology, Topology } from '../../../src/topology/nodes.js';
import { TaskLayout } from '../../../src/topology/task-layout.js';

export interface RigOptions {
  readonly errors?: Partial<ErrorPolicy>;
  readonly env?: Partial<TaskEnvironment>;
  readonly lag?: (topic: string) => number | null;
  /** Default 1 for every topic. */
  readonly partitionCount?: (topic: string) => number | Promise<number>;
  readonly partition?: number;
  readonly watermarks?: Partial<TaskOptions['watermarks']>;
  /** Committed offset and time of the inputs. */
  readonly start?: { readonly offset: number; readonly partitionTime: number };
  /** An earlier life of the task: positions, stores and input are as it left them at its last commit. */
  readonly before?: TaskRig;
}

export class TaskRig {
  now = 0;
  commitsRequested = 0;
  readonly warnings: { readonly fields: Record<string, unknown>; readonly message: string }[] = [];
  readonly released: number[] = [];
  readonly log = new TopicLog();
  readonly metrics = new TaskMetrics();
  task!: Task;
  state!: TaskState;
  active!: ActiveTask;
  /** Of the last commit. */
  private barrier: TaskBarrier | null = null;
  /** What this life and those before it have written to the changelogs. */
  private readonly changelogs = new Map<string, LoggedRecord[]>();
  private epoch = 0;

  static async open(topology: Topology, options: RigOptions = {}): Promise<TaskRig> {
    const rig = new TaskRig();
    await rig.start(topology, options);
    return rig;
  }

  /** Puts a record into an input topic and hands it to the task. */
  pipe(topic: string, key: string | null, value: string | null, timestamp = 0, headers: Headers | null = null): void {
    const [k, v] = [bytes(key), bytes(value)];
    this.log.builder(topic, this.task.partition).appendRaw(timestamp, k, 0, k?.length ?? 0, v, 0, v?.length ?? 0, headers);
    this.deliver();
  }

  /** Runs the task until nothing is ready. */
  async run(): Promise<void> {
    for (;;) {
      const count = this.task.run(Infinity);
      const waited = this.task.isBusy;
      await this.task.settled();
      if (count === 0 && !waited) return;
    }
  }

  async commit(): Promise<readonly { readonly topic: string; readonly offset: number }[]> {
    await this.task.flush();
    this.barrier = this.active.freeze(++this.epoch);
    this.deliver();
    this.active.committed(this.epoch, new Map());
    return this.barrier.offsets.map(({ topic, offset }) => ({ topic, offset }));
  }

  written(topic: string): readonly LoggedRecord[] {
    this.deliver();
    return this.log.records(topic);
  }

  /** `key=value@timestamp` of what a topic holds. */
  lines(topic: string): string[] {
    return this.written(topic).map(({ key, value, timestamp }) => `${String(key)}=${String(value)}@${timestamp}`);
  }

  private deliver(): void {
    for (const chunk of this.log.deliver()) if (this.task.reads(chunk.topic, chunk.partition)) this.task.addChunk(chunk);
  }

  private async start(topology: Topology, options: RigOptions): Promise<void> {
    const subTopology = topology.subTopologies[0] as SubTopology;
    const partition = options.partition ?? 0;
    const serdes = new SerdeDefaults(null, null);
    const count = options.partitionCount ?? (() => 1);
    const layout = new TaskLayout(topology, 'app', () => partition + 1);
    const id = { subTopology: subTopology.id, partition };
    const specs = subTopology.stores.flatMap((name) => topology.stores.get(name)?.spec ?? []);
    const logger = this.logger();
    this.state = await TaskState.open({
      taskId: '0_0',
      directory: null,
      specs,
      defaultEngine: 'memory',
      serdes: (spec) => serdes.ofStore(spec),
      cacheBytes: 0,
      logger,
    });
    const changelogs = new Map(layout.changelogPartitions(id).map(({ store, topic }) => [store, topic]));
    if (options.before !== undefined) this.inherit(options.before, changelogs);
    const env: TaskEnvironment = {
      applicationId: 'app',
      output: { partitionCount: count, builder: (topic, index) => this.log.builder(topic, index) },
      errors: { ...failAlways, ...options.errors },
      logger,
      metrics: this.metrics,
      defaultEmit: 'onUpdate',
      maxTaskIdleMs: 0,
      isolation: 'read_uncommitted',
      wallClock: () => this.now,
      requestCommit: () => {
        this.commitsRequested++;
      },
      calls: callTimers(this.metrics, () => undefined),
      serde: (serde, node, part) => serdes.compiled(serde, node, part),
      ...options.env,
    };
    const sourceOf = (topic: string): string =>
      [...topology.nodes.values()].find((node) => node.kind === 'source' && node.topics.some(({ name }) => name === topic))?.name ?? '';
    this.task = new Task({
      id: '0_0',
      partition,
      topology,
      subTopology,
      env,
      inputs: layout.inputPartitions(id).map((input) => ({
        ...input,
        sourceNode: sourceOf(input.topic),
        ...(options.before?.positionOf(input.topic) ?? options.start ?? { offset: 0, partitionTime: -1 }),
      })),
      lags: {
        lag: (topic) => (options.lag === undefined ? 0 : options.lag(topic)),
        isAtEnd: (topic) => (options.lag === undefined ? 0 : options.lag(topic)) === 0,
      },
      watermarks: { targets: [], repeatEvery: Infinity, alignment: new AlignmentGroups().of('0_0', '0'), ...options.watermarks },
      store: (name) => this.state.store(name),
      topicOf: (name, internal) => (internal ? `app-${name}` : name),
      released: (_topic, _partition, size) => {
        this.released.push(size);
      },
    });
    this.active = new ActiveTask('0_0', this.task, this.state, layout.changelogPartitions(id), env.output);
    this.deliver();
  }

  /** Where the task goes on in its next life. */
  private positionOf(topic: string): { readonly offset: number; readonly partitionTime: number; readonly watermark?: number } | undefined {
    const index = this.barrier?.offsets.findIndex((offset) => offset.topic === topic) ?? -1;
    if (this.barrier === null || index < 0) return undefined;
    const { offsets, partitionTimes, watermark } = this.barrier;
    return { offset: offsets[index]?.offset ?? 0, partitionTime: partitionTimes[index] ?? -1, watermark };
  }

  private inherit(before: TaskRig, changelogs: ReadonlyMap<string, string>): void {
    for (const [store, topic] of changelogs) {
      const records = [...(before.changelogs.get(topic) ?? []), ...before.log.records(topic)];
      this.changelogs.set(topic, records);
      this.state.beginRestore(store, null);
      for (const { key, value, timestamp } of records)
        this.state.restoreRecord(store, timestamp, key ?? noBytes, 0, key?.length ?? 0, value, 0, value?.length ?? 0);
      void this.state.endRestore(store, records.length);
    }
    for (const { topic } of before.task.positions()) {
      const { offset } = before.positionOf(topic) ?? { offset: 0 };
      for (const record of before.log.records(topic)) {
        const { key, value, timestamp, headers, partition } = record;
        // What was committed is there and is not read again.
        if (record.offset === offset) this.log.deliver();
        this.log.builder(topic, partition).appendRaw(timestamp, key, 0, key?.length ?? 0, value, 0, value?.length ?? 0, headers);
      }
      if (offset >= before.log.records(topic).length) this.log.deliver();
    }
    this.barrier = before.barrier;
  }

  private logger(): Logger {
    const logger: Logger = {
      debug: () => undefined,
      info: () => undefined,
      warn: (fields, message) => {
        this.warnings.push({ fields: { ...fields }, message });
      },
      error: () => undefined,
      child: () => logger,
    };
    return logger;
  }
}

const noBytes = Buffer.alloc(0);

function bytes(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text);
}

/** A promise that the test settles. */
export function deferred<T = void>(): {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
} {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Lets everything that is ready to go on go on. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
