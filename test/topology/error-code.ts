import { MillraceError } from '../../src/errors.js';

/** The code of the error that `attempt` throws; null when it throws none of ours. */
export function codeOf(attempt: () => unknown): string | null {
  try {
    attempt();
  } catch (error) {
    return error instanceof MillraceError ? error.code : null;
  }
  return null;
}
