import type { CommittedOffset, KafkaPort, TopicPartition } from '../kafka/port.js';
import { MillraceError } from '../errors.js';
import { errorName } from '../kafka/error-codes.js';
import { offsetAt } from '../kafka/offset-at.js';
import type { Logger } from '../observability/logger.js';
import { fetchCommittedOffsets } from '../transactions/committed-offsets.js';
import { decodeCommittedMetadata } from '../transactions/committed-metadata.js';
import { resetPoint, type OffsetReset, type ResetPoint } from '../time/offset-reset.js';
import type { AlignmentGroups } from '../time/watermarks/alignment.js';
import { decodeMarks } from '../time/watermarks/mark-text.js';
import type { StateStore } from '../stores/store.js';
import type { TaskState } from '../stores/task-state.js';
import { ActiveTask } from './active-task.js';
import type { ChangelogToRestore } from './changelog-bounds.js';
import type { PartitionLag } from './partition-group.js';
import type { OpenedState, StateOpener } from './state-opener.js';
import type { StateRestorer } from './state-restorer.js';
import { Task } from './task.js';
import type { TaskInput } from './task-options.js';
import type { TaskEnvironment } from './task-environment.js';
import type { TaskPlan } from './task-plan.js';

export interface TaskOpenerOptions {
  readonly port: KafkaPort;
  readonly env: (taskId: string) => TaskEnvironment;
  readonly groupId: string;
  readonly exactlyOnce: boolean;
  readonly autoOffsetReset: OffsetReset;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly states: StateOpener;
  readonly globalStore: (name: string) => StateStore | undefined;
  readonly restorer: StateRestorer;
  readonly lags: PartitionLag;
  readonly released: (topic: string, partition: number, bytes: number) => void;
  /** Where a bounded run ends; undefined for no end. */
  readonly endOf: (topic: string, partition: number) => number | undefined;
  readonly inputEnded: (topic: string, partition: number) => void;
  readonly fenceDeadOwners: (metadata: readonly (string | null)[], signal: AbortSignal) => Promise<unknown>;
  readonly logger: Logger;
  readonly alignment: AlignmentGroups;
}

const noStandby = (): Promise<null> => Promise.resolve(null);

/** With so many upstream tasks, what they told fits into the metadata of an offset in any case. */
const mostRememberedSenders = 100;
/** With more, a restarted task downstream may have to hear again what was told before: this is how long it may have to wait, ms. */
const repeatedEveryMs = 30_000;

/**
 * Takes a task over: stable committed offsets first, then the stores up to the changelog's end, then the task itself.
 *
 * The order matters: once the offsets are stable, no transaction of an earlier owner is open any more, so the changelog that is read afterwards ends
 * with the epoch that those offsets belong to. Unless the group has given the task to somebody else without this member's knowing, who has committed
 * since: then the offsets are others after the restore, and what was committed in between is restored as well. Nothing that such a member does is ever
 * committed, but its functions must not meet a record that the state has already seen.
 */
export class TaskOpener {
  /** States of tasks that are being restored: what they have so far may be read. */
  readonly restoring = new Map<string, TaskState>();

  constructor(private readonly options: TaskOpenerOptions) {}

  /** `standby` is asked once, for the open state of the task's standby if there is one here; its tail is all that is restored then. */
  async open(plan: TaskPlan, signal: AbortSignal, standby: () => Promise<OpenedState | null> = noStandby): Promise<ActiveTask> {
    const { options } = this;
    let committed = await this.committedOffsets(plan, signal);
    let inputs = await this.startingPoints(plan, committed);
    const opened = (await standby()) ?? (await options.states.open(plan));
    const { state } = opened;
    this.restoring.set(plan.id, state);
    try {
      for (;;) {
        await options.restorer.restore(plan.id, state, changelogsOf(plan, committed), signal);
        signal.throwIfAborted();
        if (!options.exactlyOnce || plan.changelogs.length === 0) break;
        const since = await this.committedOffsets(plan, signal);
        if (since.every((one) => isAmong(one, committed))) break;
        options.logger.info({ taskId: plan.id }, 'another member committed for the task while it was restored; restoring what it did');
        committed = since;
        inputs = await this.startingPoints(plan, committed);
      }
      const env = options.env(plan.id);
      for (const { topic } of plan.watermarkTargets) await env.output.partitionCount(topic);
      const task = new Task({
        id: plan.id,
        partition: plan.partition,
        topology: plan.topology,
        subTopology: plan.subTopology,
        env,
        inputs,
        lags: options.lags,
        store: (name) => (plan.stores.some((spec) => spec.name === name) ? state.store(name) : options.globalStore(name)),
        topicOf: plan.topicOf,
        watermarks: {
          targets: plan.watermarkTargets,
          repeatEvery: plan.peers > mostRememberedSenders ? repeatedEveryMs : Infinity,
          alignment: options.alignment.of(plan.id, String(plan.subTopology.id)),
        },
        released: options.released,
        inputEnded: options.inputEnded,
      });
      opened.times.takeFrom(() => task.record.timestamp);
      return new ActiveTask(plan.id, task, state, plan.changelogs, env.output);
    } catch (error) {
      await state.close({ clean: false });
      throw error;
    } finally {
      if (this.restoring.get(plan.id) === state) this.restoring.delete(plan.id);
    }
  }

  private committedOffsets(plan: TaskPlan, signal: AbortSignal): Promise<readonly CommittedOffset[]> {
    const { port, groupId, exactlyOnce, logger, fenceDeadOwners } = this.options;
    return fetchCommittedOffsets({ port, groupId, requireStable: exactlyOnce, logger, fenceDeadOwners }, plan.inputs, signal);
  }

  private async startingPoints(plan: TaskPlan, committed: readonly CommittedOffset[]): Promise<TaskInput[]> {
    const inputs: TaskInput[] = [];
    for (const input of plan.inputs) {
      const known = committed.find(({ topic, partition }) => topic === input.topic && partition === input.partition);
      const { topic, partition, sourceNode, senders } = input;
      const end = this.options.endOf(topic, partition);
      if (known !== undefined && known.offset >= 0) {
        const { partitionTime = -1, watermark, topicId, marks = '', ended, holdsResults } = decodeCommittedMetadata(known.metadata) ?? {};
        if (holdsResults === true) mustTellResults(plan);
        const { offset } = known;
        inputs.push({
          topic,
          partition,
          sourceNode,
          offset,
          partitionTime,
          watermark,
          topicId,
          senders,
          marks: decodeMarks(marks),
          end,
          ended,
        });
      } else {
        const point = resetPoint(input.offsetReset ?? this.options.autoOffsetReset, this.options.now());
        const offset = await this.firstOffset(input, point);
        inputs.push({ topic, partition, sourceNode, offset, isPassing: point !== 'earliest', partitionTime: -1, senders, end });
      }
    }
    return inputs;
  }

  private async firstOffset({ topic, partition }: TopicPartition, point: ResetPoint): Promise<number> {
    if (point === 'none') {
      throw new MillraceError(
        'MILL_OFFSET_OUT_OF_RANGE',
        `the group has no committed offset for ${topic}-${partition} and autoOffsetReset is "none"`,
        {
          details: { topic, partition },
        },
      );
    }
    const isolation = this.options.exactlyOnce ? 'read_committed' : 'read_uncommitted';
    const answer = await offsetAt(this.options.port, { topic, partition }, point, isolation);
    if (answer === undefined || answer.errorCode !== 0) {
      throw new MillraceError(
        'MILL_BROKER_ERROR',
        `can’t read the ${typeof point === 'number' ? `first offset since ${point}` : `${point} offset`} of ${topic}-${partition}: ${errorName(answer?.errorCode ?? -1)}`,
        {
          details: { topic, partition, brokerErrorCode: answer?.errorCode },
        },
      );
    }
    return answer.offset;
  }
}

/** Nobody has committed for its partition since. */
function isAmong({ topic, partition, offset, metadata }: CommittedOffset, committed: readonly CommittedOffset[]): boolean {
  return committed.some(
    (other) => other.topic === topic && other.partition === partition && other.offset === offset && other.metadata === metadata,
  );
}

/** Another topology has no use for what a run in batch mode holds: it would never be told. @throws MILL_BATCH_UNFINISHED */
function mustTellResults({ id, topology }: TaskPlan): void {
  if (topology.mode === 'batch') return;
  throw new MillraceError('MILL_BATCH_UNFINISHED', `Task ${id} holds results of a run in batch mode that has not come to its end.`, {
    details: { task: id },
  });
}

/** A source topic that is a changelog too is state up to the committed offset, and input from there on; without one nothing of it is state. */
function changelogsOf(plan: TaskPlan, committed: readonly CommittedOffset[]): readonly ChangelogToRestore[] {
  return plan.changelogs.map((changelog) => {
    if (changelog.isSourceTopic !== true) return changelog;
    const known = committed.find(({ topic, partition }) => topic === changelog.topic && partition === changelog.partition);
    return { ...changelog, upTo: Math.max(0, known?.offset ?? 0) };
  });
}
