/** The differential test is worth what its cases reach: everything of the vocabulary, in both languages, with every option. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../conformance/case.js';
import { checkDefinition, optionsOfOperations } from '../../conformance/kafka-streams/definition-rules.js';
import { caseOf } from '../../conformance/kafka-streams/random/random-operation.js';
import { randomOperations } from '../../conformance/kafka-streams/random/random-operations.js';
import { operations } from '../../conformance/kafka-streams/vocabulary.js';

const drawn = randomOperations.flatMap(({ topology }) => fc.sample(topology, { numRuns: 400, seed: 1 }));
const stages = drawn.filter(({ op }) => op === 'pipeline').flatMap((definition) => definition.stages as readonly JsonObject[]);
/** Options that only say in words what the operation does. */
const notes = ['keyMapper', 'predicate'];
const known = Object.keys(optionsOfOperations).sort();

/** The labels of a `switch` in a source of the oracle. */
function labels(file: string): string[] {
  const source = readFileSync(path.join('conformance/oracle/src/main/java/millrace/oracle', file), 'utf8');
  return [...source.matchAll(/case "([^"]+)" ->/g)].map(([, label]) => label ?? '');
}

const absent = 'absent';
const distinct = (values: readonly (Json | undefined)[]): string[] => [...new Set(values.map(shown))].sort();

function shown(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? absent : JSON.stringify(value);
}

describe('the vocabulary of conformance cases', () => {
  it('is the same here and in the oracle', () => {
    expect(Object.keys(operations).sort()).toEqual(known);
    const operationsOfOracle = labels('Topologies.java').filter((label) => label.includes('-') || known.includes(label));
    expect(distinct(operationsOfOracle)).toEqual(known);
  });

  it.each(randomOperations)('takes every random $name for its own', ({ topology }) => {
    fc.assert(fc.property(topology, (definition) => checkDefinition(definition)));
  });

  it.each([
    [{ op: 'stream-aggregate', aggregate: 'median' }, 'aggregate "median" of stream-aggregate'],
    [{ op: 'merge', twice: true }, 'option twice of merge'],
    [{ op: 'window-aggregate', window: { type: 'unlimited' } }, 'window {"type":"unlimited"} of window-aggregate'],
    [{ op: 'source-table', config: { 'max.task.idle.ms': '5' } }, 'config {"max.task.idle.ms":"5"} of source-table'],
    [{ op: 'fold' }, 'operation fold'],
  ])('refuses %j by name', (definition, what) => {
    expect(() => checkDefinition(definition)).toThrow(what);
  });
});

describe('the random cases', () => {
  it.each(known)('reach %s with each of its options', (op) => {
    const definitions = drawn.filter((definition) => definition.op === op);
    expect(definitions).not.toEqual([]);
    for (const [option, rule] of Object.entries(optionsOfOperations[op] ?? {})) {
      if (notes.includes(option)) continue;
      const values = distinct(definitions.map((definition) => definition[option]));
      if (!('oneOf' in rule)) expect([option, values.filter((value) => value !== absent)]).not.toEqual([option, []]);
      // A flag that is not there is false.
      else for (const value of rule.oneOf) if (value !== false) expect([option, ...values]).toContain(shown(value));
    }
  });

  it('reach every window, with and without grace, hops, and suppression', () => {
    const windows = drawn.filter(({ op }) => op === 'window-aggregate');
    for (const type of ['time', 'session', 'sliding']) {
      const ofType = windows.filter(({ window }) => (window as JsonObject).type === type);
      const graces = ofType.map(({ window }) => Number((window as JsonObject).graceMs) > 0);
      expect([type, ...distinct(graces)]).toEqual([type, 'false', 'true']);
      for (const emit of ['update', 'close']) {
        const emitted = ofType.filter((definition) => definition.emit === emit).map(({ suppress }) => suppress);
        expect([type, emit, ...distinct(emitted)]).toEqual([type, emit, 'absent', 'until-window-closes']);
      }
    }
    expect(windows.some(({ window }) => (window as JsonObject).advanceMs !== undefined)).toBe(true);
  });

  it('reach joins of every kind with windows to one side only, before and after', () => {
    const joins = drawn.filter(({ op }) => op === 'stream-stream-join');
    for (const kind of ['inner', 'left', 'outer']) {
      const shapes = joins
        .filter((definition) => definition.kind === kind)
        .map(({ beforeMs, afterMs }) => `${Math.sign(Number(beforeMs))} ${Math.sign(Number(afterMs))}`);
      expect(new Set(shapes)).toEqual(new Set(['0 0', '0 1', '1 0', '1 1', '-1 1', '1 -1']));
    }
  });

  it('reach every optimisation', () => {
    const chosen = distinct(drawn.map(({ config }) => (config as JsonObject | undefined)?.['topology.optimization']));
    expect(chosen).toEqual(['absent', 'all', 'merge.repartition.topics', 'reuse.ktable.source.topics', 'single.store.self.join']);
  });

  it('reach every stage of pipelines that the oracle has', () => {
    const stageLabels = [...labels('Pipeline.java'), ...labels('PipelineStreams.java')];
    const values = new Set(stages.flatMap(({ do: action, kind, by, aggregate }) => [action, kind, by, aggregate]));
    expect(stageLabels.filter((label) => !values.has(label))).toEqual([]);
    expect(distinct(drawn.map(({ named }) => named))).toEqual(['absent', 'false', 'true']);
  });

  it('have records without key and without value, of one time, out of order, and far apart', () => {
    const rows = randomOperations
      .flatMap((operation) => fc.sample(caseOf(operation), { numRuns: 50, seed: 2 }))
      .map(({ steps }) =>
        (steps as readonly JsonObject[]).flatMap((step) => step.in as readonly (readonly [string, Json, Json, number])[]),
      );
    const gaps = rows.flatMap((given) => given.slice(1).map(([, , , time], index) => time - (given[index]?.[3] ?? 0)));
    expect(rows.flat().some(([, key]) => key === null)).toBe(true);
    expect(rows.flat().some(([, , value]) => value === null)).toBe(true);
    expect([gaps.some((gap) => gap === 0), gaps.some((gap) => gap < 0), gaps.some((gap) => gap > 100_000)]).toEqual([true, true, true]);
  });

  it('are the same for the same seed', () => {
    for (const operation of randomOperations)
      expect(fc.sample(caseOf(operation), { numRuns: 3, seed: 5 })).toEqual(fc.sample(caseOf(operation), { numRuns: 3, seed: 5 }));
  });
});
