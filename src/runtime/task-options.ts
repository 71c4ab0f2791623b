import type { StateStore } from '../stores/store.js';
import type { Alignment } from '../time/watermarks/alignment.js';
import type { UpstreamMark } from '../time/watermarks/source-watermarks.js';
import type { SubTopology, Topology } from '../topology/nodes.js';
import type { RepartitionTarget } from '../topology/task-layout.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import type { PartitionLag } from './partition-group.js';
import type { TaskEnvironment } from './task-environment.js';

/** An input partition of a task and where to go on. */
export interface TaskInput {
  readonly topic: string;
  readonly partition: number;
  readonly sourceNode: string;
  readonly offset: number;
  /** Nothing is committed, and the policy would find another beginning later: this one is committed though no record comes, or what came until then would be passed over. */
  readonly isPassing?: boolean;
  /** Highest timestamp committed for the partition, -1 when none. */
  readonly partitionTime: number;
  /** Event time of the task when it was committed; absent when it had none. */
  readonly watermark?: number;
  /** Id of the topic that the offset was committed for; absent or null when it is not known. */
  readonly topicId?: string | null;
  /** Upstream tasks that send their watermarks through the partition. */
  readonly senders?: readonly string[];
  /** What they had told when it was committed. */
  readonly marks?: ReadonlyMap<string, UpstreamMark>;
  /** Records from this offset on are not processed: the bound of a bounded run. Default: none. */
  readonly end?: number;
  /** How the task had ended its input at that position. */
  readonly ended?: InputEnd | null;
}

export interface TaskPosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly partitionTime: number;
  readonly topicId: string | null;
  /** What upstream tasks have told of their event time through the partition; null when none does. */
  readonly marks: ReadonlyMap<string, UpstreamMark> | null;
  /** The bound of a bounded run is reached: nothing more of the partition is needed. */
  readonly hasEnded?: boolean;
}

export interface TaskOptions {
  readonly id: string;
  readonly partition: number;
  readonly topology: Topology;
  readonly subTopology: SubTopology;
  readonly env: TaskEnvironment;
  readonly inputs: readonly TaskInput[];
  readonly lags: PartitionLag;
  /** A store of this task, or a global one. */
  readonly store: (name: string) => StateStore | undefined;
  readonly topicOf: (name: string, internal: boolean) => string;
  readonly watermarks: TaskWatermarkOptions;
  /** Buffer room of an input partition that is free again. */
  readonly released: (topic: string, partition: number, bytes: number) => void;
  /** An input has come to its `end`: nothing more of it is needed. */
  readonly inputEnded?: (topic: string, partition: number) => void;
}

export interface TaskWatermarkOptions {
  /** Repartition topics through which the task tells its watermark. */
  readonly targets: readonly RepartitionTarget[];
  /** How often it says again what it has said, ms; Infinity: only what is new. */
  readonly repeatEvery: number;
  readonly alignment: Alignment;
}
