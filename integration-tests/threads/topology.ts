/** The topology of the job of the fault tests, as a module that each thread of the process imports. */
import type { TopologyContext } from 'millrace';
import { asJob } from './job-setup.js';
import { jobTopology } from '../exactly-once/job-topology.js';

const { topics, variant } = asJob(process.env['JOB_SETUP']);

export default ({ thread }: TopologyContext) => {
  if (thread !== null) obeyTheTest(thread);
  return jobTopology(topics, variant === 'mapOnly' ? 'mapOnly' : 'everything');
};

/** What user code may do to its thread, at the test's word. */
function obeyTheTest(thread: number): void {
  const orders = new BroadcastChannel('orders');
  orders.unref();
  orders.onmessage = (message: unknown) => {
    const order = (message as { readonly data: unknown }).data;
    if (order === `exit ${thread}`) process.exit(3);
    if (order === `throw ${thread}`) throw new Error('nothing catches this');
    if (order === `hang ${thread}`) for (;;);
    if (order === `hoard ${thread}`) hoard();
  };
}

/** Takes heap until there is none. */
function hoard(): void {
  const kept: object[] = [];
  for (let i = 0; ; i++) kept.push({ number: i, text: `${i}`.repeat(10) });
}
