/**
 * Cases of steps: each step feeds records to a topology, then the output topic must hold exactly the records that the step lists.
 *
 * The topology is told in a small vocabulary (`vocabulary.ts`) and runs under the test driver with `emit: 'onUpdate'`, as the reference ran without a record cache.
 */
import type { TestInputTopic } from '../../src/testing/test-input-topic.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { serdes } from '../../src/serdes/serdes.js';
import { isList, isObject, list, number, object, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';
import { completeResults } from './complete-results.js';
import { buildTopology } from './vocabulary.js';

const topicSerdes = { keySerde: serdes.string, valueSerde: serdes.string };

export function stepsCase({ value }: CaseEntry): ConformanceCase | null {
  if (!('steps' in value && 'topology' in value)) return null;
  return { name: text(value, 'name'), run: () => runSteps(value) };
}

async function runSteps(value: JsonObject): Promise<readonly string[]> {
  const definition = object(value, 'topology');
  const driver = new TopologyTestDriver(buildTopology(definition), { emit: 'onUpdate', ...applicationIdOf(definition) });
  try {
    const inputs = new Map<string, TestInputTopic<string, string>>();
    const output = driver.outputTopic('OUT', topicSerdes);
    const suppressed = suppresses(definition) ? driver.outputTopic('SUPPRESSED', topicSerdes) : null;
    const steps = list(value, 'steps') as readonly JsonObject[];
    const got: Json[][] = [];
    const gotSuppressed: Json[][] = [];
    for (const step of steps) {
      for (const [topic, key, record, timestamp] of list(step, 'in') as readonly [string, string | null, string | null, number][]) {
        let input = inputs.get(topic);
        if (input === undefined) inputs.set(topic, (input = driver.inputTopic(topic, topicSerdes)));
        await input.pipe(key, record, { timestamp });
      }
      got.push(output.readAll().map((row) => [row.key, row.value, row.timestamp]));
      gotSuppressed.push((suppressed?.readAll() ?? []).map((row) => [row.key, row.value, row.timestamp]));
    }
    const mismatches = await compareSteps(value, definition, steps, got);
    return [...mismatches, ...compareSuppressed(value, steps, gotSuppressed), ...compareDrops(value, driver)];
  } finally {
    await driver.close();
  }
}

async function compareSteps(
  value: JsonObject,
  definition: JsonObject,
  steps: readonly JsonObject[],
  got: readonly Json[][],
): Promise<string[]> {
  const unordered = value.unordered === true;
  const mismatches: string[] = [];
  steps.forEach((step, index) => {
    if (step.out === undefined && step.wanted === undefined && step.unchecked === true) return;
    const expected = canonical(step.wanted ?? step.out ?? [], unordered);
    const actual = canonical(got[index] ?? [], unordered);
    if (expected !== actual) mismatches.push(`step ${index}: expected ${expected}, got ${actual}`);
  });
  if (mismatches.length === 0 || steps.some((step) => step.wanted !== undefined)) return mismatches;
  return (await isCompleteFinalResult(definition, steps, got)) ? [] : mismatches;
}

/** What a suppressed table lets through goes to a topic of its own. */
function compareSuppressed(value: JsonObject, steps: readonly JsonObject[], got: readonly Json[][]): string[] {
  const unordered = value.unordered === true;
  return steps.flatMap((step, index) => {
    if (step.suppressed === undefined && step.unchecked === true) return [];
    const expected = canonical(step.suppressed ?? [], unordered);
    const actual = canonical(got[index] ?? [], unordered);
    return expected === actual ? [] : [`step ${index}, suppressed: expected ${expected}, got ${actual}`];
  });
}

/** Whether the topology has the topic SUPPRESSED. */
function suppresses(definition: JsonObject): boolean {
  return definition.suppress !== undefined || definition.op === 'table-groupby-value-count-suppress';
}

function applicationIdOf({ config }: JsonObject): { readonly applicationId?: string } {
  const applicationId = isObject(config) ? config['application.id'] : undefined;
  return typeof applicationId === 'string' ? { applicationId } : { applicationId: 'oracle' };
}

/** Whether the case lists what the reference lost, and we gave everything: the complete result, with the listed rows in their order among it. */
async function isCompleteFinalResult(definition: JsonObject, steps: readonly JsonObject[], got: readonly Json[][]): Promise<boolean> {
  const complete = await completeResults(definition, steps);
  if (complete === null) return false;
  return steps.every((step, index) => {
    const rows = (complete[index] ?? []).map((row) => JSON.stringify(row));
    const listed = (isList(step.out) ? step.out : []).map((row) => JSON.stringify(row));
    return JSON.stringify(complete[index]) === JSON.stringify(got[index]) && isSubsequence(listed, rows);
  });
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const row of whole) if (row === part[at]) at++;
  return at === part.length;
}

/** Records without a key before a repartition topic are counted here and not in Kafka Streams. */
function compareDrops(value: JsonObject, driver: TopologyTestDriver): string[] {
  if (value.droppedRecordsTotal === undefined) return [];
  const expected = number(value, 'droppedRecordsTotal');
  const got = driver.droppedRecords - (driver.droppedByReason.get('null-repartition-key') ?? 0);
  return got === expected ? [] : [`expected ${expected} dropped records, got ${got}`];
}

function canonical(rows: Json, unordered: boolean): string {
  const texts = (isList(rows) ? rows : []).map((row) => JSON.stringify(row));
  return `[${(unordered ? texts.sort() : texts).join(',')}]`;
}
