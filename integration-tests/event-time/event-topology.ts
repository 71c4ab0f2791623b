/** The job of the event-time tests: windows, running totals and timers, each behind a repartition, so that event time comes from every task upstream. */
import {
  listState,
  serdes,
  StreamsBuilder,
  tumblingEventTime,
  valueState,
  watermarks,
  type FiredTimer,
  type KeyedProcessor,
  type KeyedProcessorContext,
  type ListState,
  type Record,
  type Topology,
  type ValueState,
} from 'millrace';

export interface EventTopics {
  /** Key: device, value: a number. */
  readonly readings: string;
  /** Of each window of a device: `sum/count/mean`. */
  readonly means: string;
  /** Of each device, with each reading: `sum/count`. */
  readonly totals: string;
  /** Of each reading: that its timer fired. */
  readonly reminders: string;
  readonly late: string;
}

export const windowSize = 60_000;
export const bound = 5_000;
export const reminderAfter = 30_000;

const text = { keySerde: serdes.string, valueSerde: serdes.string };

export function eventTopology(topics: EventTopics, idleness: number | undefined): Topology {
  const builder = new StreamsBuilder();
  const readings = builder
    .stream(topics.readings, {
      keySerde: serdes.string,
      valueSerde: serdes.double,
      watermarks: watermarks.boundedOutOfOrderness(bound, { idleness }),
    })
    // The key of the input says nothing of its partition, so readings of a device come from everywhere.
    .keyBy((_value, key) => key, { name: 'by-device', keySerde: serdes.string, valueSerde: serdes.double });
  const { results, late } = readings.window(tumblingEventTime({ size: windowSize })).aggregate(
    { initial: () => [0, 0] as [number, number], add: ([sum, count], value: number) => [sum + value, count + 1], result: (mean) => mean },
    {
      name: 'mean',
      sideOutputLate: true,
      apply: (_device, [sum, count], { window }) => `${window.start}: ${sum}/${count}/${sum / count}`,
      valueSerde: serdes.string,
    },
  );
  results.map((value, { key }) => [key, value], text).to(topics.means);
  late.to(topics.late);
  readings.process(() => new Totals(), { name: 'total', states: [total], ...text }).to(topics.totals);
  readings.process(() => new Reminders(), { name: 'reminders', states: [readingsAt], ...text }).to(topics.reminders);
  return builder.build();
}

const total = valueState<string>('total', { serde: serdes.string });

class Totals implements KeyedProcessor<string, number, string, string> {
  declare private context: KeyedProcessorContext<string, string, string>;
  declare private total: ValueState<string>;

  init(context: KeyedProcessorContext<string, string, string>): void {
    this.context = context;
    this.total = context.state(total);
  }

  process({ key, value }: Record<string, number>): void | Promise<void> {
    const [sum, count] = (this.total.value() ?? '0/0').split('/').map(Number) as [number, number];
    const next = `${sum + value}/${count + 1}`;
    this.total.update(next);
    return this.context.forward({ key, value: next });
  }
}

const readingsAt = listState<string>('readings', { serde: serdes.string });

/** Says of each reading, half a minute of event time later, that it was there. */
class Reminders implements KeyedProcessor<string, number, string, string> {
  declare private context: KeyedProcessorContext<string, string, string>;
  declare private readings: ListState<string>;

  init(context: KeyedProcessorContext<string, string, string>): void {
    this.context = context;
    this.readings = context.state(readingsAt);
  }

  process({ value, timestamp }: Record<string, number>): void {
    this.readings.add(`${timestamp} ${value}`);
    this.context.timers.registerEventTimer(timestamp + reminderAfter);
  }

  async onTimer({ key, time }: FiredTimer<string>): Promise<void> {
    const all = this.readings.get();
    const due = all.filter((reading) => Number(reading.split(' ')[0]) + reminderAfter === time);
    this.readings.update(all.filter((reading) => !due.includes(reading)));
    for (const reading of due) await this.context.forward({ key, value: reading });
  }
}
