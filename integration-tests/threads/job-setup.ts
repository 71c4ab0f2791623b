import type { UncaughtErrorAnswer } from 'millrace';
import type { Fold } from '../exactly-once/fold.js';
import type { JobSetup } from '../exactly-once/job-messages.js';

/** What the process of several threads is told besides. */
export interface ThreadsJobSetup extends JobSetup {
  readonly answer?: UncaughtErrorAnswer;
  /** The handler begins a thread before it answers. */
  readonly addsThread?: boolean;
}

export function asJob(text: string | undefined): ThreadsJobSetup {
  return JSON.parse(text ?? '') as ThreadsJobSetup;
}

/** What the job answers to `read`. */
export interface StoresAnswer {
  readonly rows: readonly (readonly [string, Fold])[];
  readonly byKey: readonly (readonly [string, Fold | null])[];
  /** Whether the partition has the first key, or why it did not answer. */
  readonly partitions: readonly (readonly [number, boolean | string])[];
  /** Starts of the first windows. */
  readonly windows: readonly number[];
  readonly isLocal: boolean;
  readonly nothing: Fold | null;
  readonly count: number;
  readonly last: readonly string[];
  /** Rows before the last ones. */
  readonly rest: number;
}
