/** `npm run test:integration [-- jest arguments]`: jest starts a stack for the run when `KAFKA_BROKERS` names none. */
import { runMain } from '../run-main.js';
import { findJavaTools } from '../stack/java.js';
import { runJest } from './jest.js';

await runMain(async () => {
  if (!process.env['KAFKA_BROKERS']) await findJavaTools();
  const { failed } = await runJest({ project: 'integration', args: process.argv.slice(2) });
  return failed > 0 ? 1 : 0;
});
