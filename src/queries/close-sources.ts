import type { Answer } from './answer-query.js';

/** Closes what answers hold open, when nobody will read it. */
export function closeAll(answers: readonly Answer[]): void {
  for (const answer of answers) if (answer.kind === 'rows') for (const source of answer.sources) source.close().catch(() => undefined);
}
