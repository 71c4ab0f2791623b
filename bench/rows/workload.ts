/** What the throughput rows run: a topology, the records it reads, and how to tell that its output is right. */
import type { InputShape } from '../input/inputs.js';
import type { TopologyName } from '../ours/topologies.js';

export interface Workload {
  readonly topology: TopologyName;
  readonly keys: number;
  /** With `preload`, a state of that many keys (at most five for each measured record) is the warm-up. */
  readonly input: Omit<InputShape, 'records' | 'keys'>;
  /** The table or the other stream of a join. */
  readonly other?: OtherInput;
  /** Name of the repartition topic, when there is one: each record is processed twice then, before and behind it. */
  readonly repartition?: string;
  /** What the committed output must add up to: a record for each input record, or counts of all of them. */
  readonly output: 'recordEach' | 'counts';
}

export interface OtherInput extends Omit<InputShape, 'records' | 'keys'> {
  /** `keys`: one record for each key; `all`: as many as the input. */
  readonly records: 'keys' | 'all';
}

const eventTime = 'oneMillisecondEach';

export const workloads = {
  map: { topology: 'map', keys: 100_000, input: {}, output: 'recordEach' },
  'json-map': { topology: 'json-map', keys: 100_000, input: { values: 'json' }, output: 'recordEach' },
  'count-10k': { topology: 'count', keys: 10_000, input: {}, output: 'counts' },
  'count-100k': { topology: 'count', keys: 100_000, input: {}, output: 'counts' },
  'avro-count': { topology: 'avro-count', keys: 10_000, input: { values: 'avro' }, output: 'counts' },
  'count-10m': { topology: 'count', keys: 10_000_000, input: { preload: true }, output: 'counts' },
  'repartition-count': { topology: 'repartition-count', keys: 10_000, input: {}, repartition: 'by-number-repartition', output: 'counts' },
  'tumbling-count': { topology: 'tumbling-count', keys: 10_000, input: { eventTime }, output: 'counts' },
  'session-count': { topology: 'session-count', keys: 10_000, input: { eventTime }, output: 'counts' },
  'stream-table-join': {
    topology: 'stream-table-join',
    keys: 100_000,
    input: { eventTime },
    other: { records: 'keys', order: 'inTurn', eventTime: 'beforeAll' },
    output: 'recordEach',
  },
  // The same key comes again after 100 seconds, so each record meets exactly one of the other side within 10.
  'stream-stream-join': {
    topology: 'stream-stream-join',
    keys: 100_000,
    input: { eventTime, order: 'inTurn', role: 'left' },
    other: { records: 'all', eventTime, order: 'inTurn', role: 'right' },
    output: 'recordEach',
  },
} as const satisfies Record<string, Workload>;
