import type { TopicPartition } from '../kafka/port.js';
import type { StoreSpec } from '../stores/store.js';
import type { OffsetReset } from '../time/offset-reset.js';
import type { SubTopology, Topology } from '../topology/nodes.js';
import type { RepartitionTarget } from '../topology/task-layout.js';
import type { ChangelogToRestore } from './changelog-bounds.js';

/** Everything that is fixed about a task before it is opened: where it reads, what it keeps, where its changes are logged. */
export interface TaskPlan {
  /** `<sub-topology>_<partition>`. */
  readonly id: string;
  readonly partition: number;
  readonly topology: Topology;
  readonly subTopology: SubTopology;
  readonly inputs: readonly (TopicPartition & {
    readonly sourceNode: string;
    readonly offsetReset: OffsetReset | null;
    /** Ids of the upstream tasks that send their watermarks through the partition. */
    readonly senders: readonly string[];
  })[];
  /** Repartition topics through which the task sends its own watermark. */
  readonly watermarkTargets: readonly RepartitionTarget[];
  /** Tasks of the same sub-topology. */
  readonly peers: number;
  readonly stores: readonly StoreSpec[];
  readonly changelogs: readonly ChangelogToRestore[];
  /** Full name of a topic: internal ones get the application id in front. */
  readonly topicOf: (name: string, internal: boolean) => string;
}
