import type { Logger } from '../observability/logger.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import type { TaskState, TaskStateOptions } from '../stores/task-state.js';
import type { SharedMemory } from './local-state.js';
import { RecordTimes } from './record-times.js';
import type { TaskMetrics } from './task-metrics.js';
import type { TaskPlan } from './task-plan.js';

export interface StateOpenerOptions {
  readonly open: (options: Omit<TaskStateOptions, 'cacheBytes' | 'engineBytes'>, shared: SharedMemory) => Promise<TaskState>;
  /** Null: the stores are in memory. */
  readonly taskDirectory: (taskId: string) => string | null;
  readonly emitsOnCommit: boolean;
  readonly defaultEngine: 'memory' | 'leveldb';
  readonly storeSerdes: (spec: StoreSpec) => { readonly key: CompiledSerde<unknown>; readonly value: CompiledSerde<unknown> };
  readonly shared: SharedMemory;
  readonly logger: Logger;
  readonly metrics: (taskId: string) => Pick<TaskMetrics, 'damagedStates' | 'failedStateWrites'>;
  /** Committed rows were written to a task's disk, or could not be. */
  readonly onWritten: () => void;
}

/** The open state of a task: of one that runs, or of a standby, which may become one that runs without closing it. */
export interface OpenedState {
  readonly state: TaskState;
  readonly times: RecordTimes;
}

/** Opens the stores of a task from its local directory. */
export class StateOpener {
  constructor(private readonly options: StateOpenerOptions) {}

  async open(plan: TaskPlan): Promise<OpenedState> {
    const { options } = this;
    const times = new RecordTimes(Date.now);
    const state = await options.open(
      {
        taskId: plan.id,
        directory: plan.stores.length === 0 ? null : options.taskDirectory(plan.id),
        specs: plan.stores,
        emitsOnCommit: options.emitsOnCommit,
        defaultEngine: options.defaultEngine,
        serdes: options.storeSerdes,
        logger: options.logger,
        onDamaged: () => {
          options.metrics(plan.id).damagedStates++;
        },
        onWritten: (hasFailed) => {
          if (hasFailed) options.metrics(plan.id).failedStateWrites++;
          options.onWritten();
        },
        recordTimestamp: times.now,
      },
      options.shared,
    );
    return { state, times };
  }
}
