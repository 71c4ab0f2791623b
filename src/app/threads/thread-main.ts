/** Where a worker begins: the file that `WorkerThread` runs. */
import { parentPort, workerData } from 'node:worker_threads';
import { MillraceError } from '../../errors.js';
import type { ThreadSetup } from './thread-protocol.js';
import { ThreadWork } from './thread-work.js';

if (parentPort === null) throw new MillraceError('MILL_INVARIANT', 'a stream thread was begun outside of a worker');
new ThreadWork(parentPort, workerData as ThreadSetup);
