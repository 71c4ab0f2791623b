/**
 * The standbys of one stream thread: copies of state kept current from the changelogs, for tasks that other instances run.
 *
 * One fetcher over connections of its own serves all of them; its buffer bounds their memory, and it reads no further before a batch is in a store. Batches are applied one
 * after the other in slices of a few milliseconds, with a turn of the event loop between, so tasks that run here always come to their own.
 */
import type { Fetcher } from '../kafka/fetcher/fetcher.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import { MillraceError } from '../errors.js';
import type { KafkaPort, TopicPartition } from '../kafka/port.js';
import { SerialQueue } from '../stores/serial-queue.js';
import { StandbySlot, type StandbySlotParts } from './standby-slot.js';
import type { StandbyTask } from './standby-task.js';
import type { OpenedState } from './state-opener.js';

export interface StandbyTasksOptions extends Omit<StandbySlotParts, 'source' | 'inTurn' | 'onOpened' | 'onProgress'> {
  /** Opens the port for standbys; called once, at the first standby. */
  readonly openPort: () => Promise<KafkaPort>;
  readonly openFetcher: (
    port: KafkaPort,
    onData: (chunk: FetchedChunk) => void,
    onError: (error: MillraceError, partition: TopicPartition | null) => void,
  ) => Fetcher;
  /** Records that a warm-up may lag behind when its task moves to it. */
  readonly acceptableRecoveryLag: number;
  /** A warm-up has got there: called once for each. */
  readonly onWarm: (taskId: string) => void;
}

interface StandbySource {
  readonly port: KafkaPort;
  readonly fetcher: Fetcher;
}

export class StandbyTasks {
  private readonly slots = new Map<string, StandbySlot>();
  /** Ends under way, by task: the next to open the state waits for them. */
  private readonly endings = new Map<string, Promise<unknown>>();
  private readonly turns = new SerialQueue();
  private readonly parts: StandbySlotParts;
  private warmups: ReadonlySet<string> = new Set();
  private readonly warm = new Set<string>();
  private source: Promise<StandbySource> | null = null;
  private closed = false;

  constructor(private readonly options: StandbyTasksOptions) {
    this.parts = {
      ...options,
      source: () => this.openSource(),
      inTurn: (work) => this.turns.run(work),
      onOpened: (task) => {
        this.warm.delete(task.id);
      },
      onProgress: (task) => this.progressed(task),
    };
  }

  /** Ids of all standbys that are wanted, whether open yet or not. */
  get ids(): readonly string[] {
    return [...this.slots.keys()];
  }

  /** Those that are open and follow their changelogs, by task id. */
  get tasks(): ReadonlyMap<string, StandbyTask> {
    const open = new Map<string, StandbyTask>();
    for (const [id, { task }] of this.slots) if (task !== null) open.set(id, task);
    return open;
  }

  /** Those that are, or once were since they were opened, within `acceptableRecoveryLag` of their changelogs: ready for their task. */
  get caughtUp(): readonly string[] {
    return [...this.tasks.values()].filter((task) => this.warm.has(task.id) || this.isClose(task)).map(({ id }) => id);
  }

  /** Opens and closes standbys so that there are these; a task in `taken` is left for `release`. `warmups`: those that are to run here once they have caught up. */
  assign(wanted: readonly string[], warmups: readonly string[], taken: ReadonlySet<string>): void {
    const next = new Set(wanted);
    for (const id of this.slots.keys()) if (!next.has(id) && !taken.has(id)) void this.end(id, 'migrated');
    this.warmups = new Set(warmups);
    for (const id of this.warm) if (!this.warmups.has(id)) this.warm.delete(id);
    if (this.closed) return;
    for (const id of next) {
      if (this.slots.has(id) || taken.has(id)) continue;
      const before = this.endings.get(id);
      this.slots.set(
        id,
        new StandbySlot(
          id,
          before === undefined ? this.parts : { ...this.parts, planOf: (task) => before.then(() => this.parts.planOf(task)) },
        ),
      );
    }
    for (const task of this.tasks.values()) this.progressed(task);
  }

  /** The task runs here from now on: gives its open state, or null when there is none. Waits for an end of the standby that is under way. */
  async release(id: string): Promise<OpenedState | null> {
    await this.endings.get(id);
    return this.slots.has(id) ? this.end(id, 'promoted') : null;
  }

  /** Positions of idle standbys are current. */
  noteCurrent(): void {
    for (const task of this.tasks.values()) task.noteCurrent();
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.slots.keys()].map((id) => this.end(id, 'migrated')));
    await Promise.all(this.endings.values());
    const source = await this.source?.catch(() => null);
    await source?.fetcher.stop();
  }

  private end(id: string, reason: 'promoted' | 'migrated'): Promise<OpenedState | null> {
    const slot = this.slots.get(id);
    if (slot === undefined) return Promise.resolve(null);
    this.slots.delete(id);
    const ended = slot.end(reason);
    const settled = ended.then(
      () => undefined,
      () => undefined,
    );
    this.endings.set(id, settled);
    void settled.then(() => {
      if (this.endings.get(id) === settled) this.endings.delete(id);
    });
    return ended;
  }

  private progressed(task: StandbyTask): void {
    if (!this.warmups.has(task.id) || this.warm.has(task.id) || !this.isClose(task)) return;
    this.warm.add(task.id);
    this.options.onWarm(task.id);
  }

  private isClose(task: StandbyTask): boolean {
    return task.lag <= this.options.acceptableRecoveryLag;
  }

  private openSource(): Promise<StandbySource> {
    this.source ??= this.openSourceOnce().catch((error: unknown) => {
      this.source = null;
      throw error;
    });
    return this.source;
  }

  private async openSourceOnce(): Promise<StandbySource> {
    const port = await this.options.openPort();
    if (this.closed) throw new MillraceError('MILL_STATE_INVALID', 'the standbys are closed');
    const fetcher: Fetcher = this.options.openFetcher(
      port,
      (chunk) => this.receive(chunk, fetcher),
      (error, partition) => {
        for (const slot of this.slots.values()) if (partition === null || slot.store(partition) !== undefined) slot.refused(error);
      },
    );
    fetcher.start();
    return { port, fetcher };
  }

  private receive(chunk: FetchedChunk, fetcher: Fetcher): void {
    const release = (): void => {
      fetcher.consumed(chunk.byteLength, chunk);
    };
    for (const slot of this.slots.values()) {
      const store = slot.store(chunk);
      if (store === undefined) continue;
      slot.receive(store, chunk, release);
      return;
    }
    release();
  }
}
