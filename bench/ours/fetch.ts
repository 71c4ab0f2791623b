/** Reads every key and value of a topic with the library's fetcher and record cursor, and says how long those after the warm-up took. */
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { FetchedChunk } from '../../src/kafka/fetcher/fetched-chunk.js';
import { RecordCursor } from '../../src/kafka/record-batch/record-cursor.js';
import { silentLogger } from '../../src/observability/logger.js';
import { connect } from '../clients/connect.js';
import { ReadArguments } from '../harness/arguments.js';
import { cpuMs, sayReport } from '../harness/side-report.js';

const options = new ReadArguments(process.argv.slice(2));
const [warmUp, records, topic] = [options.number('warm-up'), options.number('records'), options.text('input')];
const port = await connect(options.text('bootstrap').split(','), 'bench-fetch');
const cursor = new RecordCursor();
let [seen, checksum] = [0, 0];
let [seenAtStart, startedAt, cpuBefore] = [0, 0, 0];

await new Promise<void>((resolve, reject) => {
  const fetcher = new Fetcher(port, {
    isolation: 'read_uncommitted',
    autoOffsetReset: () => 'earliest',
    logger: silentLogger,
    onError: reject,
    onData: (chunk) => {
      read(chunk);
      fetcher.consumed(chunk.byteLength, chunk);
      if (startedAt === 0 && seen >= warmUp) [seenAtStart, startedAt, cpuBefore] = [seen, performance.now(), cpuMs()];
      if (seen < warmUp + records) return;
      sayReport({ event: 'result', records: seen - seenAtStart, ms: performance.now() - startedAt, cpuMs: cpuMs() - cpuBefore });
      resolve();
    },
  });
  for (let partition = 0; partition < options.number('partitions'); partition++) fetcher.assign({ topic, partition }, 0);
  fetcher.start();
});
await port.close();
process.exit(checksum === 0 ? 1 : 0);

function read({ partition, fetchOffset, abortedTransactions, records: bytes }: FetchedChunk): void {
  cursor.open(bytes, { topic, partition, fetchOffset, abortedTransactions, isolation: 'read_uncommitted' });
  while (cursor.next()) {
    const { buffer, keyStart, keyEnd, valueStart, valueEnd } = cursor;
    checksum = (checksum + (buffer[keyEnd - 1] ?? 0) + (buffer[valueEnd - 1] ?? 0) + (keyEnd - keyStart) + (valueEnd - valueStart)) | 0;
    seen++;
  }
}
