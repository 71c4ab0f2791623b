import type { CompressionType } from '../kafka/compression/compression-type.js';
import type { Logger } from '../observability/logger.js';
import type { ProcessorWrapper } from '../processors/processor-wrapper.js';
import type { AssignorSettings, TaskAssignor } from '../rebalance/assignor.js';
import type { InstanceDirectory } from '../stores/state-directory.js';
import type { StateStore } from '../stores/store.js';
import type { OffsetReset } from '../time/offset-reset.js';
import type { TimestampExtractor } from '../time/timestamp-extractor.js';
import type { Topology } from '../topology/nodes.js';
import type { ErrorPolicy } from './error-policy.js';
import type { LocalState } from './local-state.js';
import type { SerdeDefaults } from './serde-defaults.js';
import type { StandbyUpdateListener } from './standby-listener.js';
import type { RestoreListener } from './state-restorer.js';

/** What a thread may take of the app's memory, bytes. Read anew whenever it matters: a share changes when other threads come and go. */
export interface MemoryBounds {
  readonly maxUncommittedBytes: number;
  readonly maxBufferedBytes: number;
  /** Rows of LevelDB stores in memory, of all tasks. */
  readonly statestoreCacheMaxBytes: number;
}

/** What a stream thread is made from. Times are milliseconds, sizes bytes. */
export interface ThreadSettings {
  readonly applicationId: string;
  readonly topology: Topology;
  readonly index: number;
  readonly exactlyOnce: boolean;
  readonly commitInterval: number;
  readonly memory: MemoryBounds;
  readonly maxTaskIdleMs: number;
  readonly defaultEmit: 'onUpdate' | 'onCommit';
  /** null: the record's own time. */
  readonly defaultTimestampExtractor: TimestampExtractor | null;
  readonly compressionType: CompressionType;
  readonly autoOffsetReset: OffsetReset;
  readonly storeEngine: 'leveldb' | 'memory';
  readonly sessionTimeout: number;
  readonly heartbeatInterval: number;
  readonly rebalanceTimeout: number;
  /** Who places tasks: a member of the group, or the broker. */
  readonly groupProtocol: 'classic' | 'streams';
  /** Of internal topics; -1: the broker's. */
  readonly replicationFactor: number;
  readonly transactionTimeout: number;
  readonly errors: ErrorPolicy;
  readonly processorWrapper: ProcessorWrapper | null;
  readonly serdes: SerdeDefaults;
  readonly logger: Logger;
  readonly stateDirectory: InstanceDirectory;
  readonly localState: LocalState;
  /** `host:port` for queries, told to the group. */
  readonly applicationServer: string | null;
  readonly clientTags: Readonly<Record<string, string>>;
  /** A static member's id, without the thread; null for a dynamic member. */
  readonly groupInstanceId: string | null;
  readonly assignor: TaskAssignor;
  readonly assignment: AssignorSettings;
  readonly probingRebalanceInterval: number;
  readonly stateCleanupDelay: number;
  readonly clusterId: string | null;
  readonly restoreListener: RestoreListener;
  readonly standbyListener: StandbyUpdateListener;
  readonly globalStore: (name: string) => StateStore | undefined;
  /** Where a bounded run ends; undefined for no end. */
  readonly endOf: (topic: string, partition: number) => number | undefined;
}
