/** The complete final results of a case: what Kafka Streams would give if it lost no window. null when the case does not ask for final results. */
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { serdes } from '../../src/serdes/serdes.js';
import { list, number, object, type Json, type JsonObject } from '../case.js';
import { FinalResultsFromUpdates } from './final-results-from-updates.js';
import { finalResultsModel } from './topologies/window-aggregate.js';
import { buildTopology } from './vocabulary.js';

type InputRow = readonly [string, string | null, string | null, number];

const topicSerdes = { keySerde: serdes.string, valueSerde: serdes.string };

/** For each step, the rows that it closes. */
export async function completeResults(definition: JsonObject, steps: readonly JsonObject[]): Promise<Json[][][] | null> {
  if (definition.op !== 'window-aggregate' || definition.emit !== 'close') return null;
  const model = finalResultsModel(definition);
  if (model === null) return fromUpdates(definition, steps);
  return steps.map((step) => inputOf(step).flatMap(([, key, value, timestamp]) => model.add(key, value, timestamp)));
}

async function fromUpdates(definition: JsonObject, steps: readonly JsonObject[]): Promise<Json[][][]> {
  const window = object(definition, 'window');
  const byEnd = window.type === 'session';
  const wait = number(window, 'graceMs', 0) + (byEnd ? number(window, 'gapMs') : 0);
  const model = new FinalResultsFromUpdates({ closeTime: (streamTime) => streamTime - wait, byEnd });
  const driver = new TopologyTestDriver(buildTopology({ ...definition, emit: 'update', suppress: undefined }), { emit: 'onUpdate' });
  try {
    const input = driver.inputTopic('L', topicSerdes);
    const output = driver.outputTopic('OUT', topicSerdes);
    const complete: Json[][][] = [];
    for (const step of steps) {
      const rows: Json[][] = [];
      for (const [, key, value, timestamp] of inputOf(step)) {
        await input.pipe(key, value, { timestamp });
        const updates = output.readAll().map((row) => [String(row.key), row.value, row.timestamp] as const);
        rows.push(...model.add(timestamp, key !== null && (byEnd || value !== null), updates));
      }
      complete.push(rows);
    }
    return complete;
  } finally {
    await driver.close();
  }
}

function inputOf(step: JsonObject): readonly InputRow[] {
  return list(step, 'in') as unknown as readonly InputRow[];
}
