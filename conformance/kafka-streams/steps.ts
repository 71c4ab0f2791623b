/**
 * Cases of steps: each step feeds records to a topology, then the output topic must hold exactly the records that the step lists.
 *
 * The topology is told in a small vocabulary (`vocabulary.ts`) and runs under the test driver with `emit: 'onUpdate'`, as the reference ran without a record cache.
 */
import type { TestInputTopic } from '../../src/testing/test-input-topic.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { Topology } from '../../src/topology/nodes.js';
import { isList, isObject, list, number, object, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';
import { completeResults } from './complete-results.js';
import { suppressedFinals } from './suppressed-finals.js';
import { buildTopology } from './vocabulary.js';

const topicSerdes = { keySerde: serdes.string, valueSerde: serdes.string };

export function stepsCase({ value }: CaseEntry): ConformanceCase | null {
  if (!('steps' in value && 'topology' in value)) return null;
  return { name: text(value, 'name'), run: () => runSteps(value) };
}

/** The mismatches of a case of steps. */
export async function runSteps(value: JsonObject): Promise<readonly string[]> {
  const definition = object(value, 'topology');
  const topology = buildTopology(definition);
  const driver = new TopologyTestDriver(topology, {
    emit: 'onUpdate',
    defaultKeySerde: serdes.string,
    defaultValueSerde: serdes.string,
    ...applicationIdOf(definition),
  });
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
    return [
      ...mismatches,
      ...(await compareSuppressed(value, definition, steps, gotSuppressed)),
      ...compareDrops(value, driver),
      ...compareDescription(value, topology),
    ];
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
async function compareSuppressed(
  value: JsonObject,
  definition: JsonObject,
  steps: readonly JsonObject[],
  got: readonly Json[][],
): Promise<string[]> {
  const unordered = value.unordered === true;
  const mismatches = steps.flatMap((step, index) => {
    if (step.suppressed === undefined && step.unchecked === true) return [];
    const expected = canonical(step.suppressed ?? [], unordered);
    const actual = canonical(got[index] ?? [], unordered);
    return expected === actual ? [] : [`step ${index}, suppressed: expected ${expected}, got ${actual}`];
  });
  if (mismatches.length === 0) return mismatches;
  return (await isCompleteSuppression(definition, steps, got)) ? [] : mismatches;
}

/** Whether the case lists what the reference let through of final results that it lost some of, and we gave what follows from all of them. */
async function isCompleteSuppression(definition: JsonObject, steps: readonly JsonObject[], got: readonly Json[][]): Promise<boolean> {
  const complete = await completeResults(definition, steps);
  if (complete === null) return false;
  const window = object(definition, 'window');
  const suppressed = suppressedFinals(complete, number(window, 'graceMs', 0) + number(window, 'gapMs', 0));
  const whole = got.flat().map((row) => JSON.stringify(row));
  const listed = steps.flatMap((step) => (isList(step.suppressed) ? step.suppressed : [])).map((row) => JSON.stringify(row));
  return JSON.stringify(suppressed) === JSON.stringify(got) && listed.every((row) => whole.includes(row));
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

function compareDescription(value: JsonObject, topology: Topology): string[] {
  if (value.describe === undefined) return [];
  const [expected, got] = [inOneOrder(text(value, 'describe')), inOneOrder(topology.describe())];
  return got === expected ? [] : [`expected the topology\n${expected}got\n${got}`];
}

/** The order of a node's neighbours and stores depends on hashes in Kafka Streams. */
function inOneOrder(description: string): string {
  const sorted = (names: string): string => names.split(', ').sort().join(', ');
  return description
    .trim()
    .replace(/(-->|<--) (.*)/g, (_line, arrow: string, names: string) => `${arrow} ${sorted(names)}`)
    .replace(/\((stores|topics): \[(.*)\]\)/g, (_line, what: string, names: string) => `(${what}: [${sorted(names)}])`);
}

function canonical(rows: Json, unordered: boolean): string {
  const texts = (isList(rows) ? rows : []).map((row) => JSON.stringify(row));
  return `[${(unordered ? texts.sort() : texts).join(',')}]`;
}
