/** Records written and read without a topology, against kafkajs's producer and consumer. */
import type { Bench } from '../harness/bench.js';
import { partitions } from '../harness/bench.js';
import type { SideReport } from '../harness/side-report.js';
import { summarise } from '../report/summary.js';
import type { Row, Sample } from './row.js';
import { costRows, inTurn, valuesOf } from './row.js';

const keys = 100_000;
const timeoutMs = 600_000;

export const produceRow: Row = { name: 'produce', against: 'kafkajs', run: (bench) => run(bench, 'produce') };
export const fetchRow: Row = { name: 'fetch', against: 'kafkajs', run: (bench) => run(bench, 'fetch') };

async function run(bench: Bench, name: 'produce' | 'fetch'): ReturnType<Row['run']> {
  const { warmUp } = bench;
  const { records } = bench.options;
  const input = name === 'fetch' ? await bench.inputs.get({ records: warmUp + records, keys }) : null;
  const samples = await inTurn(bench, name, async (side): Promise<Sample> => {
    const output = input === null ? await bench.freshTopic(name) : null;
    const running = bench.startProgram(`${side === 'ours' ? 'ours' : 'kafkajs'}/${name}`, {
      'warm-up': warmUp,
      records,
      keys,
      partitions,
      'application-id': bench.freshName(name),
      ...(output === null ? { input: input?.topic ?? '' } : { output }),
    });
    try {
      const result = await running.report('result', timeoutMs);
      const memoryBytes = running.peakMemoryBytes;
      await running.close();
      return { ...ratesOf(result), memoryBytes };
    } finally {
      await running.kill();
      if (output !== null) await bench.port.admin.deleteTopics([output]);
    }
  });
  return [summarise(name, 'records/s', 'higher', valuesOf(samples)), ...costRows(name, samples, 'CPU s per million records')];
}

function ratesOf({ records, ms, cpuMs }: Extract<SideReport, { event: 'result' }>): { value: number; cpu: number } {
  return { value: (records / ms) * 1000, cpu: (cpuMs / records) * 1000 };
}
