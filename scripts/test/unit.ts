/** `npm run test:unit [-- jest arguments]` */
import { runJest } from './jest.js';

const { failed } = await runJest({ project: 'unit', args: process.argv.slice(2) });
if (failed > 0) process.exitCode = 1;
