import type { AppMetrics, RestoreProgress, StreamsConfig, StreamsState } from 'millrace';
import type { JobTopics, JobVariant } from './job-topology.js';

/** What the job's process is told, in its environment as JSON. */
export interface JobSetup {
  readonly topics: JobTopics;
  readonly variant: JobVariant;
  /** The job stops at the end of its input. */
  readonly bounded?: boolean;
  /** Defaults of the library, but for what a test is about. */
  readonly config: Pick<StreamsConfig, 'applicationId' | 'bootstrapServers'> & Partial<StreamsConfig>;
}

/** Records that asynchronous operators of this process called for, and those for which a first call was made more than once. */
export interface JobCalls {
  readonly records: number;
  readonly calledAgain: readonly string[];
}

export type JobMessage =
  | { readonly kind: 'state'; readonly state: StreamsState }
  | { readonly kind: 'restored'; readonly progress: RestoreProgress }
  | { readonly kind: 'restoring'; readonly progress: RestoreProgress }
  | { readonly kind: 'metrics'; readonly metrics: AppMetrics; readonly calls: JobCalls }
  | { readonly kind: 'log'; readonly level: string; readonly message: string; readonly fields: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string };
