/** Writes records with the library's batch builder and Produce requests, and says how long those after the warm-up took, all acknowledged. */
import { connect } from '../clients/connect.js';
import { RecordSender } from '../clients/record-sender.js';
import { ReadArguments } from '../harness/arguments.js';
import { cpuMs, sayReport } from '../harness/side-report.js';
import { keyIndexOf, keyOf, makeValues } from '../input/record-shape.js';

const options = new ReadArguments(process.argv.slice(2));
const [warmUp, records] = [options.number('warm-up'), options.number('records')];
const keys = Array.from({ length: options.number('keys') }, (_, index) => keyOf(index));
const values = makeValues().map((value) => Buffer.from(value));
const port = await connect(options.text('bootstrap').split(','), 'bench-produce');
const sender = await RecordSender.open(port, options.text('output'));

await produce(0, warmUp);
const [startedAt, cpuBefore] = [performance.now(), cpuMs()];
await produce(warmUp, warmUp + records);
sayReport({ event: 'result', records, ms: performance.now() - startedAt, cpuMs: cpuMs() - cpuBefore });
await port.close();

async function produce(from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const key = keys[keyIndexOf(i, keys.length)] ?? '';
    const value = values[i % values.length] ?? Buffer.alloc(0);
    if (sender.append(Date.now(), key, value)) await sender.send();
  }
  await sender.flush();
}
