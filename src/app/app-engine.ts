import type { GroupView } from '../rebalance/group-view.js';
import type { SerdeDefaults } from '../runtime/serde-defaults.js';
import type { StandbyUpdateListener } from '../runtime/standby-listener.js';
import type { RestoreListener } from '../runtime/state-restorer.js';
import type { WatermarkExplanation } from '../runtime/watermark-explanation.js';
import type { StoreReads } from '../queries/store-reads.js';
import type { Topology } from '../topology/nodes.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import type { AppMetrics, OwnMetrics } from './app-metrics.js';
import type { AppPlatform } from './app-platform.js';
import type { ResolvedConfig } from './config.js';
import type { StreamsState } from './streams-app.js';

/** What happens in an engine, for the app. */
export interface AppListener {
  /** Tasks are being moved or restored, or everything assigned runs. */
  onActivity(activity: 'rebalancing' | 'running'): void;
  /** An error that nothing here can mend. `restart` null: what failed can't be replaced (a global table, as in Kafka Streams). */
  onError(error: unknown, restart: ((pauseMs: number) => void) | null): void;
  onFatal(error: Error): void;
  onGroupView(view: GroupView): void;
}

/** What is settled only when the app starts. */
export interface StartOptions {
  readonly restoreListener: RestoreListener;
  readonly standbyListener: StandbyUpdateListener;
  /** How a bounded run ends; null for an app without end. */
  readonly bounds: InputEnd | null;
}

/** Offsets by topic, then partition. */
export type EndOffsets = Readonly<Record<string, Readonly<Record<number, number>>>>;

/** A run that ends where its input ended when it began. */
export interface BoundedWork {
  /** Resolves when all tasks of the group have ended, with where that was. */
  untilComplete(signal: AbortSignal): Promise<EndOffsets>;
}

/** Of the time that a `close` may take; the rest is for the last commit and for leaving the group. */
export const handoverShare = 0.5;

/**
 * What runs the topology of an app: one stream thread in the caller's JavaScript thread (`LocalEngine`), or several in workers (`ThreadedEngine`). The app keeps the
 * state and decides what follows from an error; the engine works.
 */
export interface AppEngine {
  readonly queries: StoreReads;
  /** Resolves when the group has given this instance its tasks. Throws MILL_STATE_INVALID when `close` came in between. */
  open(options: StartOptions): Promise<void>;
  /**
   * Gives back everything, whatever `open` has got to. Throws what failed first.
   *
   * @param clean whether what is processed is committed before
   * @param leaveGroup whether other instances get the tasks now; null: as is the rule for the member
   * @param handoverMs how long the tasks may go on until the other instances have heard of it
   */
  close(clean: boolean, leaveGroup: boolean | null, handoverMs: number): Promise<void>;
  /** Lets go of everything without waiting for it: the group and the broker notice by their timeouts. */
  abandon(): Promise<void>;
  /** Ends a clean `close` that is under way, without a commit. */
  giveUpCommit(): void;
  /** Asks the group to stop every instance, which each hears of as a fatal error. False when nobody here is in the group. */
  shutDownApplication(reason: string): boolean;
  /** Whether tasks stand still, those that come later included. */
  isPaused: boolean;
  metrics(own: OwnMetrics): AppMetrics;
  /** @param operator null: all. @throws MILL_CONFIG_INVALID when the topology has no such node */
  explainWatermark(operator: string | null): WatermarkExplanation;
  /** null without bounds, and before they are known. */
  bounded(): BoundedWork | null;
  /** null where the number of threads is fixed. */
  readonly threads: ThreadPool | null;
}

/** Stream threads that come and go while the app runs. */
export interface ThreadPool {
  /** Resolves with the index of the new thread when the group has given it its tasks. */
  add(): Promise<number>;
  /** Commits and ends the thread with the highest index; resolves with it. */
  remove(timeoutMs: number): Promise<number>;
}

/** What an engine is made from. */
export interface EngineParts {
  readonly topology: Topology;
  readonly config: ResolvedConfig;
  readonly serdes: SerdeDefaults;
  readonly platform: AppPlatform;
  readonly listener: AppListener;
  readonly state: () => StreamsState;
  readonly groupView: () => GroupView;
}
