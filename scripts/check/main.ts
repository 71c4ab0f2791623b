/** `npm run check`: everything that can be told without a broker and without running tests. */
import { runChecks, sourceChecks } from './run-checks.js';

const { failed } = await runChecks(sourceChecks);
if (failed > 0) process.exitCode = 1;
