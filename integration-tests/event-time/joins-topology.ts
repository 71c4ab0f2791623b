/** Joins by event time, and windows in two stages: each behind repartitions, so that its time and its records come from every task upstream. */
import { serdes, slidingEventTime, StreamsBuilder, tumblingEventTime, watermarks, type KeyedStream, type Topology } from 'millrace';
import { bound, windowSize } from './event-topology.js';

export interface JoinTopics {
  /** Key: device, value: a number. */
  readonly readings: string;
  /** The same; each record is a version of its device from its time on. */
  readonly versions: string;
  /** Of each hopping window of a device's readings: `start: sum/count`. */
  readonly hops: string;
  /** Of each reading with a version: `reading:version`. */
  readonly temporal: string;
  /** Of each reading and version in a window: `start reading:version`. */
  readonly pairs: string;
}

export const slide = 20_000;

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const numbers = { keySerde: serdes.string, valueSerde: serdes.double };

export function joinsTopology(topics: JoinTopics): Topology {
  const builder = new StreamsBuilder();
  const keyed = (topic: string, name: string): KeyedStream<string, number> =>
    builder
      .stream(topic, { ...numbers, watermarks: watermarks.boundedOutOfOrderness(bound) })
      // The key of the input says nothing of its partition, so records of a device come from everywhere.
      .keyBy((_value, key) => key, { name, ...numbers });
  const readings = keyed(topics.readings, 'readings-by-device');
  const versions = keyed(topics.versions, 'versions-by-device');
  readings
    .window(slidingEventTime({ size: windowSize, slide }))
    .aggregate(
      {
        initial: () => [0, 0] as [number, number],
        add: ([sum, count], value: number) => [sum + value, count + 1],
        merge: ([sum, count], [otherSum, otherCount]) => [sum + otherSum, count + otherCount],
        result: (mean) => mean,
      },
      {
        name: 'hops',
        twoStage: true,
        apply: (_device, [sum, count], { window }) => `${window.start}: ${sum}/${count}`,
        valueSerde: serdes.string,
      },
    )
    .map((value, { key }) => [key, value], text)
    .to(topics.hops);
  readings.temporalJoin(versions, (reading, version) => `${reading}:${version}`, { name: 'as-of', ...text }).to(topics.temporal, text);
  readings
    .windowJoin(
      versions,
      tumblingEventTime({ size: windowSize }),
      (reading, version, _key, { window }) => `${window.start} ${reading}:${version}`,
      {
        name: 'pairs',
        valueSerde: serdes.string,
      },
    )
    .map((value, { key }) => [key, value], text)
    .to(topics.pairs);
  return builder.build();
}
