import { MillraceError } from '../errors.js';
import { delay } from '../kafka/backoff.js';
import { errorName } from '../kafka/error-codes.js';
import type { IsolationLevel, KafkaPort, TopicPartition } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import { formatTaskId } from '../rebalance/task-id.js';
import { recoveryOf } from '../runtime/recovery.js';
import { TaskPlans } from '../runtime/task-plans.js';
import type { BuiltThread } from '../runtime/thread-factory.js';
import type { Topology } from '../topology/nodes.js';
import { isLoop, subTopologyOrder } from '../topology/sub-topology-order.js';
import { decodeCommittedMetadata, type InputEnd } from '../transactions/committed-metadata.js';
import { fetchCommittedOffsets } from '../transactions/committed-offsets.js';
import type { EndOffsets } from './app-engine.js';

export interface BoundedRunParts {
  readonly port: KafkaPort;
  readonly applicationId: string;
  readonly topology: Topology;
  readonly isolation: IsolationLevel;
  readonly end: InputEnd;
  readonly logger: Logger;
}

interface RunTask {
  readonly id: string;
  readonly subTopology: number;
  readonly inputs: readonly TopicPartition[];
}

interface Committed {
  readonly offset: number;
  readonly ended: InputEnd | null;
}

/** Between two looks at how far the group is, ms. */
const lookEveryMs = 50;

/**
 * A run that stops at the ends that its source topics had when it began.
 *
 * The group's committed offsets, with how each task had ended beside them, say how far all instances are. Sub-topologies end in the order in which records pass them: a task ends its
 * input when everything before it has ended and it has read its internal topics to the end. Sub-topologies that feed each other end once what they have committed is all that there is to read:
 * then nothing of what they made of it is still on its way.
 */
export class BoundedRun {
  private constructor(
    private readonly parts: BoundedRunParts,
    private readonly tasks: readonly RunTask[],
    /** Of the topics that are not the app's own. */
    private readonly ends: ReadonlyMap<string, number>,
    private readonly internal: ReadonlySet<string>,
  ) {}

  /** Reads the ends of all source topics as they are now. @throws MILL_BROKER_ERROR */
  static async begin(parts: BoundedRunParts): Promise<BoundedRun> {
    const { applicationId, topology, port, isolation } = parts;
    const { specs } = await TaskPlans.read(applicationId, topology, port);
    const tasks = specs.map(({ task, inputs }) => ({ id: formatTaskId(task), subTopology: task.subTopology, inputs }));
    const internal = new Set(
      topology.subTopologies.flatMap(({ sourceTopics }) =>
        sourceTopics.filter((topic) => topic.internal).map(({ name }) => `${applicationId}-${name}`),
      ),
    );
    const given = tasks.flatMap(({ inputs }) => inputs.filter(({ topic }) => !internal.has(topic)));
    return new BoundedRun(parts, tasks, await latest(port, given, isolation), internal);
  }

  /** For the thread: where an input ends; topics and partitions that were not there at the start are not read, internal topics to a moving end. */
  readonly endOf = (topic: string, partition: number): number =>
    this.internal.has(topic) ? Infinity : (this.ends.get(`${topic}-${partition}`) ?? 0);

  /** Resolves when all tasks of the group have ended. */
  async untilComplete(built: BuiltThread, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        if (await this.goOn(built, signal)) return;
      } catch (error) {
        if (signal.aborted || recoveryOf(error) !== 'recover') throw error;
        this.parts.logger.warn({ error: String(error) }, 'how far the group is could not be read; trying again');
      }
      await delay(lookEveryMs, signal);
    }
  }

  get offsets(): EndOffsets {
    const offsets: Record<string, Record<number, number>> = {};
    for (const { inputs } of this.tasks) {
      for (const { topic, partition } of inputs) {
        const end = this.ends.get(`${topic}-${partition}`);
        if (end !== undefined) (offsets[topic] ??= {})[partition] = end;
      }
    }
    return offsets;
  }

  /** One look: true when everything has ended; else tells tasks of this instance whose turn it is. */
  private async goOn(built: BuiltThread, signal: AbortSignal): Promise<boolean> {
    const { topology } = this.parts;
    const committed = await this.committed(signal);
    for (const group of subTopologyOrder(topology)) {
      const tasks = this.tasks.filter(({ subTopology }) => group.includes(subTopology));
      const ends = await this.endsOf(tasks);
      if (tasks.every((task) => this.hasEnded(task, committed, ends))) continue;
      const here = tasks.filter(({ id }) => built.thread.tasks.has(id));
      const known = offsetsOf(committed);
      const mayEnd = !isLoop(topology, group) || tasks.every(({ inputs }) => isBeyond(known, inputs, ends));
      for (const task of here) this.tell(task, built, known, ends, mayEnd);
      return false;
    }
    return true;
  }

  /** Asks a task that has read everything to end, or to commit how far it is: transaction markers move a position, but by themselves no commit. */
  private tell(
    { id, inputs }: RunTask,
    built: BuiltThread,
    known: ReadonlyMap<string, number>,
    ends: ReadonlyMap<string, number>,
    mayEnd: boolean,
  ): void {
    const active = built.thread.tasks.get(id);
    if (active === undefined || !isBeyond(positionsOf(active.task.positions()), inputs, ends)) return;
    if (mayEnd) built.thread.endInput(id, this.parts.end);
    if (!isBeyond(known, inputs, ends)) built.thread.commitPositions(id);
  }

  private hasEnded({ inputs }: RunTask, committed: ReadonlyMap<string, Committed>, ends: ReadonlyMap<string, number>): boolean {
    return inputs.every((input) => {
      const place = placeOf(input);
      const known = committed.get(place);
      return known !== undefined && known.offset >= (ends.get(place) ?? 0) && (known.ended === 'final' || known.ended === this.parts.end);
    });
  }

  private async committed(signal: AbortSignal): Promise<ReadonlyMap<string, Committed>> {
    const { port, applicationId, logger } = this.parts;
    const partitions = this.tasks.flatMap(({ inputs }) => inputs);
    const options = { port, groupId: applicationId, requireStable: false, logger, fenceDeadOwners: () => Promise.resolve() };
    const offsets = await fetchCommittedOffsets(options, partitions, signal);
    return new Map(
      offsets
        .filter(({ offset }) => offset >= 0)
        .map((known) => [placeOf(known), { offset: known.offset, ended: decodeCommittedMetadata(known.metadata)?.ended ?? null }]),
    );
  }

  /** Internal topics are read to what is in them now: whoever writes them has ended before. */
  private async endsOf(tasks: readonly RunTask[]): Promise<ReadonlyMap<string, number>> {
    const own = tasks.flatMap(({ inputs }) => inputs.filter(({ topic }) => this.internal.has(topic)));
    if (own.length === 0) return this.ends;
    return new Map([...this.ends, ...(await latest(this.parts.port, own, 'read_uncommitted'))]);
  }
}

function placeOf({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`;
}

function positionsOf(positions: readonly (TopicPartition & { readonly offset: number })[]): ReadonlyMap<string, number> {
  return new Map(positions.map((position) => [placeOf(position), position.offset]));
}

function offsetsOf(committed: ReadonlyMap<string, Committed>): ReadonlyMap<string, number> {
  return new Map([...committed].map(([place, { offset }]) => [place, offset]));
}

/** Whether every input is read up to its end. */
function isBeyond(offsets: ReadonlyMap<string, number>, inputs: readonly TopicPartition[], ends: ReadonlyMap<string, number>): boolean {
  return inputs.every((input) => (offsets.get(placeOf(input)) ?? -1) >= (ends.get(placeOf(input)) ?? 0));
}

async function latest(port: KafkaPort, partitions: readonly TopicPartition[], isolation: IsolationLevel): Promise<Map<string, number>> {
  const answers = await port.listOffsets(
    partitions.map(({ topic, partition }) => ({ topic, partition, at: 'latest' as const, isolation })),
  );
  return new Map(
    answers.map(({ topic, partition, offset, errorCode }) => {
      if (errorCode === 0) return [placeOf({ topic, partition }), offset];
      throw new MillraceError('MILL_BROKER_ERROR', `can’t read the end of ${topic}-${partition}: ${errorName(errorCode)}`, {
        details: { topic, partition, brokerErrorCode: errorCode },
      });
    }),
  );
}
