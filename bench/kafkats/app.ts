/** One app of @kafkats/flow, with the topologies of ours/topologies.ts that are compared with it; its settings are the defaults, its state is in memory. */
import type { Codec, FlowApp } from '@kafkats/flow';
import { flow, string } from '@kafkats/flow';
import { ReadArguments } from '../harness/arguments.js';
import { endOfInput } from '../harness/end-of-input.js';
import { cpuMs, sayReport } from '../harness/side-report.js';

const options = new ReadArguments(process.argv.slice(2));
const app = flow({
  applicationId: options.text('application-id'),
  client: { brokers: options.text('bootstrap').split(','), clientId: options.text('application-id') },
  processingGuarantee: options.text('guarantee') === 'exactly_once' ? 'exactly_once' : 'at_least_once',
  commitIntervalMs: options.number('commit-interval'),
});
const count: Codec<number> = {
  encode: (value) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(BigInt(value));
    return bytes;
  },
  decode: (bytes) => Number(bytes.readBigInt64BE()),
};
let processed = 0;

build(app);
sayReport({ event: 'starting' });
setInterval(() => sayReport({ event: 'progress', processed, cpuMs: cpuMs() }), 10);
await app.start();
await endOfInput();
await app.close();
process.exit(0);

function build(builder: FlowApp): void {
  const input = builder
    .stream(options.text('input'), { key: string(), value: string(), offsetReset: 'earliest' })
    // It has no counter of its own.
    .peek(() => {
      processed++;
    });
  const output = options.text('output');
  if (options.text('topology') === 'map') {
    input.mapValues((value) => value?.toUpperCase() ?? null).to(output, { key: string(), value: string() });
  } else {
    input
      .groupByKey({ key: string(), value: string() })
      .count({ storeName: 'counts', key: string(), value: count })
      .toStream()
      .to(output, { key: string(), value: count });
  }
}
