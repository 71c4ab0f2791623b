import type { KafkaPort, TopicPartition } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import type { LocalState } from './local-state.js';
import type { StandbyTasks } from './standby-tasks.js';
import type { InstanceDirectory } from '../stores/state-directory.js';

/** Milliseconds between two rounds of each chore; Kafka Streams' `repartition.purge.interval.ms`, `metadata.max.age.ms`; the others are ours. Old state is looked for once a `stateCleanupDelay`. */
export const choreIntervals = { purge: 30_000, metadata: 300_000, offsets: 10_000, leastCleanup: 1000 } as const;

export interface ThreadChoresOptions {
  readonly port: KafkaPort;
  readonly stateDirectory: InstanceDirectory;
  /** Whether a topic is a repartition topic of this app. */
  readonly isRepartition: (topic: string) => boolean;
  /** Committed input positions of the tasks that run here. */
  readonly committed: () => readonly (TopicPartition & { readonly offset: number })[];
  /** Reads the partition counts of output topics again. */
  readonly refreshOutput: () => Promise<void>;
  /** True when topics or partition counts are not as at the last assignment. */
  readonly topicsChanged: () => Promise<boolean>;
  readonly onTopicsChanged: () => void;
  readonly ownedTasks: () => ReadonlySet<string>;
  /** How long the state of a task must be out of use before it is deleted, ms. */
  readonly stateCleanupDelay: number;
  readonly localState: Pick<LocalState, 'save' | 'removed'>;
  readonly standbys: Pick<StandbyTasks, 'ids' | 'noteCurrent'>;
  readonly logger: Logger;
}

/**
 * What a thread does beside its work, now and then: purges repartition records that are committed (those topics keep everything otherwise), looks for new topics
 * and partitions, and deletes the local state of tasks that have long been elsewhere. A chore that fails is logged and tried again at its next round.
 */
export class ThreadChores {
  private timers: NodeJS.Timeout[] = [];
  private readonly purged = new Map<string, number>();

  constructor(private readonly options: ThreadChoresOptions) {}

  start(): void {
    this.every(choreIntervals.purge, 'purging repartition topics', () => this.purge());
    this.every(choreIntervals.metadata, 'looking for changed output topics', () => this.options.refreshOutput());
    this.every(choreIntervals.metadata, 'looking for changed topics', async () => {
      if (await this.options.topicsChanged()) this.options.onTopicsChanged();
    });
    this.every(choreIntervals.offsets, 'noting how far the local state has got', async () => {
      this.options.standbys.noteCurrent();
      this.options.localState.save();
    });
    const { stateCleanupDelay } = this.options;
    this.every(Math.max(choreIntervals.leastCleanup, stateCleanupDelay), 'deleting old local state', async () => {
      const removed = await this.options.stateDirectory.removeStale((taskId) => this.isInUse(taskId), stateCleanupDelay);
      if (removed.length === 0) return;
      this.options.localState.removed(removed);
      this.options.logger.info({ tasks: removed }, 'deleted the local state of tasks that run elsewhere');
    });
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
    this.timers = [];
  }

  /** Deletes what all epochs up to the last committed one have read. */
  async purge(): Promise<void> {
    const before = this.options
      .committed()
      .filter(
        ({ topic, partition, offset }) => this.options.isRepartition(topic) && offset > (this.purged.get(`${topic}-${partition}`) ?? 0),
      );
    if (before.length === 0) return;
    await this.options.port.admin.deleteRecords(before);
    for (const { topic, partition, offset } of before) this.purged.set(`${topic}-${partition}`, offset);
  }

  /** Whether the task has an open directory, or will have one. */
  private isInUse(taskId: string): boolean {
    return this.options.ownedTasks().has(taskId) || this.options.standbys.ids.includes(taskId);
  }

  private every(interval: number, what: string, chore: () => Promise<void>): void {
    const timer = setInterval(() => {
      chore().catch((error: unknown) => {
        this.options.logger.warn({ error: String(error) }, `${what} failed; it is tried again later`);
      });
    }, interval);
    timer.unref();
    this.timers.push(timer);
  }
}
