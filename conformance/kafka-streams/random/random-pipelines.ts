/** Random chains of operators: each stage is one that the stream or table before it allows. */
import fc from 'fast-check';
import type { JsonObject } from '../../case.js';
import { buffer, fields, merged, oneOf, optimization, seldom, sessionWindows, slidingWindows, store, timeWindows } from './choices.js';
import type { RandomOperation, Text } from './random-operation.js';

/** A `counted` table was made of a stream, from an initial value: see `countedStages`. */
type Kind = 'stream' | 'table' | 'counted';

interface RandomStage {
  readonly on: Kind;
  readonly leaves: Kind;
  readonly stage: fc.Arbitrary<JsonObject>;
}

const by = oneOf('first', 'length', 'value');
const kinds = oneOf('inner', 'left', 'outer');
const innerOrLeft = oneOf('inner', 'left');
const aggregates = oneOf('count', 'reduce', 'aggregate');
/** Of a table: not under a name, under one, or in versions. */
const kept = oneOf(false, false, true, true, { versionedMs: 20 }, { versionedMs: 300_000 });
const isKept = fc.boolean();
const windows = fc.oneof(timeWindows, sessionWindows, slidingWindows);
const grace = oneOf(0, 0, 5, 1000);

const simple = ['filter', 'filterNot', 'mapValues', 'flatMapValues', 'flatMap', 'peek', 'tee', 'merge', 'branch', 'process', 'repartition'];

const streamStages: readonly RandomStage[] = [
  { on: 'stream', leaves: 'stream', stage: fields({ do: oneOf(...simple) }) },
  { on: 'stream', leaves: 'stream', stage: fields({ do: oneOf('selectKey', 'map'), by }) },
  {
    on: 'stream',
    leaves: 'stream',
    stage: fields({
      do: fc.constant('join'),
      kind: kinds,
      kept: isKept,
      beforeMs: oneOf(0, 3, 20),
      afterMs: oneOf(0, 3, 20),
      graceMs: grace,
    }),
  },
  { on: 'stream', leaves: 'stream', stage: fields({ do: fc.constant('tableJoin'), kind: innerOrLeft }) },
  { on: 'stream', leaves: 'stream', stage: fields({ do: fc.constant('globalJoin'), kind: innerOrLeft }) },
  { on: 'stream', leaves: 'table', stage: fields({ do: fc.constant('toTable'), kept }) },
  { on: 'stream', leaves: 'table', stage: fields({ do: fc.constant('aggregate'), aggregate: fc.constant('reduce'), kept }) },
  { on: 'stream', leaves: 'counted', stage: fields({ do: fc.constant('aggregate'), aggregate: aggregates, kept }) },
  { on: 'stream', leaves: 'table', stage: fields({ do: fc.constant('groupBy'), by, aggregate: fc.constant('reduce'), kept }) },
  { on: 'stream', leaves: 'counted', stage: fields({ do: fc.constant('groupBy'), by, aggregate: aggregates, kept }) },
  { on: 'stream', leaves: 'counted', stage: fields({ do: fc.constant('cogroup'), kept }) },
  { on: 'stream', leaves: 'stream', stage: windowed(fields({ do: fc.constant('aggregate'), aggregate: aggregates })) },
  { on: 'stream', leaves: 'stream', stage: windowed(fields({ do: fc.constant('groupBy'), by, aggregate: aggregates })) },
  { on: 'stream', leaves: 'stream', stage: windowed(fields({ do: fc.constant('cogroup') })) },
];

const tableStages: readonly RandomStage[] = [
  { on: 'table', leaves: 'table', stage: fields({ do: oneOf('filter', 'filterNot', 'mapValues'), kept }) },
  { on: 'table', leaves: 'table', stage: fields({ do: fc.constant('transformValues'), sees: oneOf('rows', 'deleted', 'state'), kept }) },
  { on: 'table', leaves: 'table', stage: fields({ do: fc.constant('join'), kind: kinds, kept }) },
  { on: 'table', leaves: 'table', stage: fields({ do: fc.constant('fkJoin'), kind: innerOrLeft, kept }) },
  { on: 'table', leaves: 'table', stage: fields({ do: fc.constant('groupBy'), by, aggregate: aggregates, kept }) },
  { on: 'table', leaves: 'table', stage: fields({ do: fc.constant('suppress'), timeLimitMs: oneOf(0, 5, 30), buffer }) },
  { on: 'table', leaves: 'stream', stage: fields({ do: fc.constant('toStream') }) },
];

/**
 * Kafka Streams tells what is behind an aggregation of a stream that the value before a row's first one was the initial value, and so deletes or subtracts
 * there what never was; Millrace does not. What does not look at that is the same in both.
 */
const countedStages: readonly RandomStage[] = [
  { on: 'counted', leaves: 'counted', stage: fields({ do: fc.constant('mapValues'), kept }) },
  { on: 'counted', leaves: 'counted', stage: fields({ do: fc.constant('transformValues'), sees: fc.constant('rows'), kept }) },
  { on: 'counted', leaves: 'counted', stage: fields({ do: fc.constant('join'), kind: kinds, kept }) },
  { on: 'counted', leaves: 'stream', stage: fields({ do: fc.constant('toStream') }) },
];

const stagesOn: Readonly<Record<Kind, readonly RandomStage[]>> = { stream: streamStages, table: tableStages, counted: countedStages };

function windowed(stage: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return merged(stage, fields({ window: windows, kept: isKept }), seldom('suppress', 3));
}

function stagesFrom(kind: Kind, length: number): fc.Arbitrary<readonly JsonObject[]> {
  if (length === 0) return fc.constant([]);
  return fc
    .oneof(...stagesOn[kind].map(({ stage, leaves }) => stage.map((chosen) => ({ chosen, leaves }))))
    .chain(({ chosen, leaves }) => stagesFrom(leaves, length - 1).map((rest) => [chosen, ...rest]));
}

function pipeline(from: Kind, stages: fc.Arbitrary<readonly JsonObject[]>): fc.Arbitrary<JsonObject> {
  return merged(
    fields({
      op: fc.constant('pipeline'),
      from: fc.constant(from),
      stages,
      named: fc.boolean(),
      leftStore: fc.oneof(store, fc.constant('none')),
      tableStore: fc.oneof(store, fc.constant('none')),
    }),
    optimization,
  );
}

const topics = ['L', 'R', 'T', 'G'];
/** Keys that values lead to, and the other way round. */
const keys = ['1', '2', '12', null];
const values = (): readonly Text[] => ['1', '2', '12', '211', '', null];

/** L, and what stages read besides. Joins of tables have no window: they read T. */
function reads({ stages }: JsonObject): (topic: string) => boolean {
  const used = new Set((stages as readonly JsonObject[]).map((stage) => otherTopic(stage)));
  return (topic) => topic === 'L' || used.has(topic);
}

function otherTopic(stage: JsonObject): string | null {
  switch (stage.do) {
    case 'merge':
    case 'cogroup':
      return 'R';
    case 'join':
      return stage.beforeMs === undefined ? 'T' : 'R';
    case 'tableJoin':
    case 'fkJoin':
      return 'T';
    case 'globalJoin':
      return 'G';
    default:
      return null;
  }
}

const some = (kind: Kind): fc.Arbitrary<readonly JsonObject[]> =>
  fc.integer({ min: 1, max: 4 }).chain((length) => stagesFrom(kind, length));

/** One for each way to begin, and one for the join that needs versions. */
export const pipelineOperations: readonly RandomOperation[] = [
  { name: 'stream-pipeline', topics, keys, values, topology: pipeline('stream', some('stream')), reads },
  { name: 'table-pipeline', topics, keys, values, topology: pipeline('table', some('table')), reads },
  {
    name: 'punctuated-pipeline',
    topics: ['L'],
    keys,
    values,
    // Kafka Streams' test driver has one stream time for the whole topology: punctuation comes first, and nothing else is read.
    topology: pipeline(
      'stream',
      fc
        .tuple(fields({ do: fc.constant('punctuate'), everyMs: oneOf(5, 20) }), some('stream'))
        .filter(([, rest]) => rest.every((stage) => otherTopic(stage) === null))
        .map(([first, rest]) => [first, ...rest]),
    ),
  },
  {
    name: 'grace-join-pipeline',
    topics: ['L', 'T'],
    keys: ['1', '2', '12'],
    values,
    topology: merged(
      pipeline(
        'stream',
        fields({ do: fc.constant('tableJoin'), kind: innerOrLeft, graceMs: oneOf(0, 5, 20) }).map((stage) => [stage]),
      ),
      fields({ tableStore: oneOf({ versionedMs: 20 }, { versionedMs: 300_000 }) }),
    ),
  },
];
