/** What the app and its threads say to each other. Everything here is plain data. */
import type { Element } from '../../queries/element-source.js';
import type { LocalPartitions } from '../../queries/known-store.js';
import type { StateQueryRequest } from '../../queries/state-query.js';
import type { Question, ViewRead } from '../../queries/store-reads.js';
import type { LogLevel } from '../../observability/console-logger.js';
import type { GroupView } from '../../rebalance/group-view.js';
import type { StandbyProgress, StandbySuspension } from '../../runtime/standby-listener.js';
import type { RestoreProgress } from '../../runtime/state-restorer.js';
import type { TaskWatermark } from '../../runtime/watermark-explanation.js';
import type { InputEnd } from '../../transactions/committed-metadata.js';
import type { EndOffsets } from '../app-engine.js';
import type { AppMetrics } from '../app-metrics.js';
import type { StreamsConfig } from '../config.js';
import type { SentError } from './sent-error.js';
import type { SentOutcome, SentPartition } from './sent-query.js';

/** How a worker is told what it is. */
export interface ThreadSetup {
  readonly index: number;
  /** Unique among the workers of the process: one that replaces another has another one. */
  readonly life: number;
  /** URL of the topology module. */
  readonly module: string;
  /** The caller's options, without the logger; the module's own are added in the thread. */
  readonly config: StreamsConfig;
  readonly isSilent: boolean;
  readonly directory: {
    /** null: the stores are in memory. */
    readonly root: string | null;
    readonly processId: string;
    readonly memberId: string | null;
  };
  /** Of the topology as the app knows it. */
  readonly topologyFingerprint: string;
  /** Between how many threads the memory is shared. */
  readonly shares: number;
  readonly isPaused: boolean;
}

export interface ThreadStart {
  /** Listeners that somebody listens to. */
  readonly restoreEvents: readonly RestoreEvent[];
  readonly standbyEvents: readonly StandbyEvent[];
  readonly bounds: InputEnd | null;
}

export type RestoreEvent = 'onStart' | 'onBatch' | 'onEnd';
export type StandbyEvent = 'onUpdateStart' | 'onBatch' | 'onUpdateSuspended';

/** How a thread stands. */
export interface ThreadReport {
  readonly metrics: AppMetrics;
  /** Of its tasks with event time. */
  readonly watermarks: readonly TaskWatermark[];
  /** Number of tasks by sub-topology; absent when not known yet. */
  readonly taskCounts: Readonly<Record<number, number>>;
}

export interface SentRead {
  readonly here: LocalPartitions;
  readonly partitions: readonly SentPartition[];
}

/** Rows of a query; none at the end. */
export type SentPage = readonly Element<unknown>[];

/** What a thread offers. */
export interface ThreadSide {
  readonly calls: {
    start: { takes: ThreadStart; gives: ThreadReport };
    close: { takes: { readonly clean: boolean; readonly leaveGroup: boolean | null; readonly handoverMs: number }; gives: ThreadReport };
    abandon: { takes: null; gives: null };
    untilComplete: { takes: null; gives: EndOffsets };
    read: { takes: { readonly read: ViewRead; readonly question: Question }; gives: SentRead };
    query: { takes: StateQueryRequest<unknown>; gives: readonly SentOutcome[] };
    page: { takes: number; gives: SentPage };
    closeRows: { takes: number; gives: null };
  };
  readonly events: {
    /** What the app answered to the error of this number: go on. */
    restart: { readonly number: number; readonly pauseMs: number };
    paused: boolean;
    /** The app wants to know how the thread stands. */
    reportNow: null;
    giveUpCommit: null;
    shutDownApplication: string;
    /** Another thread has the task now: what this one noted of its state is old. */
    claimed: string;
    removed: readonly string[];
    shares: number;
  };
}

/** What the app offers its threads. */
export interface AppSide {
  readonly calls: {
    /** `openings`: databases that the thread is about to open, this one included. Gives what this one may take, bytes; null: the claim was given back meanwhile. */
    claim: { takes: { readonly taskId: string; readonly ticket: number; readonly openings: number }; gives: number | null };
    removeStale: { takes: { readonly owned: readonly string[]; readonly olderThanMs: number }; gives: readonly string[] };
    rememberMember: { takes: string | null; gives: null };
  };
  readonly events: {
    release: { readonly taskId: string; readonly ticket: number };
    activity: 'rebalancing' | 'running';
    error: { readonly error: SentError; /** null: it can't be replaced. */ readonly restart: number | null };
    fatal: SentError;
    groupView: GroupView;
    log: { readonly level: LogLevel; readonly fields: Readonly<Record<string, unknown>>; readonly message: string };
    restore: { readonly event: RestoreEvent; readonly progress: RestoreProgress };
    standby: { readonly event: StandbyEvent; readonly progress: StandbyProgress; readonly reason: StandbySuspension };
    report: ThreadReport;
  };
}
