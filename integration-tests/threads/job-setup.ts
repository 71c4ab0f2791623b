import type { UncaughtErrorAnswer } from 'millrace';
import type { JobSetup } from '../exactly-once/job-messages.js';

/** What the process of several threads is told besides. */
export interface ThreadsJobSetup extends JobSetup {
  readonly answer?: UncaughtErrorAnswer;
}

export function asJob(text: string | undefined): ThreadsJobSetup {
  return JSON.parse(text ?? '') as ThreadsJobSetup;
}
