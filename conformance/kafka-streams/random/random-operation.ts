/** Random cases of an operation of the vocabulary, as fast-check draws and shrinks them. They have no results yet: Kafka Streams gives those. */
import fc from 'fast-check';
import { isList, isObject, type Json, type JsonObject } from '../../case.js';

export type Text = string | null;

export interface RandomOperation {
  /** Unlike those of all others; what `--only` selects by. */
  readonly name: string;
  readonly topics: readonly string[];
  readonly keys: readonly Text[];
  readonly values: (topic: string) => readonly Text[];
  readonly topology: fc.Arbitrary<JsonObject>;
  /** Which of the topics a topology reads, when not all. */
  readonly reads?: (topology: JsonObject) => (topic: string) => boolean;
}

/** A topology, and steps that feed it; the results, the drops and the description are for the reference to fill in. */
export function caseOf(operation: RandomOperation): fc.Arbitrary<JsonObject> {
  return fc.tuple(operation.topology, fc.array(fc.array(row, sizes(6)), sizes(8))).map(([topology, steps]) => ({
    name: `random ${operation.name}`,
    topology,
    steps: withTimes(steps, operation, operation.topics.filter(operation.reads?.(topology) ?? (() => true))),
    ...(countsDropsAlike(topology) ? { droppedRecordsTotal: 0 } : {}),
    describe: '',
  }));
}

/** The inputs of a windowed cogroup share a store: Kafka Streams also counts rows of the one that is far behind, which the store has no segment for. */
function countsDropsAlike({ stages }: JsonObject): boolean {
  return !isList(stages) || !stages.some((stage) => isObject(stage) && stage.do === 'cogroup' && stage.window !== undefined);
}

/** Topic, key and value are numbers of what the operation offers, so that a smaller topology makes of the same rows a case still. */
const row = fc.record({
  topic: fc.nat(59),
  key: fc.nat(839),
  value: fc.nat(839),
  offset: fc.oneof(
    { weight: 8, arbitrary: fc.constant(0) },
    { weight: 8, arbitrary: fc.integer({ min: -3, max: 3 }) },
    { weight: 8, arbitrary: fc.integer({ min: -10, max: 10 }) },
    { weight: 8, arbitrary: fc.integer({ min: -60, max: 60 }) },
    // Further back than Kafka Streams' segments reach.
    { weight: 1, arbitrary: fc.constantFrom(-61_000, -130_000, -500_000) },
  ),
  pause: fc.constantFrom(0, 0, 0, 0, 1, 1, 2, 2, 7, 7, 40, 40, 40, 1000, 400_000),
});

type Row = typeof row extends fc.Arbitrary<infer R> ? R : never;

const sizes = (maxLength: number): fc.ArrayConstraints => ({ minLength: 1, maxLength, size: 'max' });

/** Times wander forward, with disorder and jumps. */
function withTimes(steps: readonly (readonly Row[])[], { keys, values }: RandomOperation, topics: readonly string[]): JsonObject[] {
  let time = 0;
  return steps.map((rows) => ({
    in: rows.map(({ topic, key, value, offset, pause }): Json => {
      const timestamp = Math.max(0, time + offset);
      time = Math.max(time, timestamp) + pause;
      const chosen = nth(topics, topic);
      return [chosen, nth(keys, key), nth(values(chosen), value), timestamp];
    }),
  }));
}

function nth<T>(choices: readonly T[], at: number): T {
  return choices[at % choices.length] as T;
}
