// Event time: `readings` (key: device, value: { celsius }) in. `minute-means` gets the mean of each minute once no reading of it is expected any more, and again when one comes
// all the same; `late-readings` what comes more than ten minutes too late; `silent-devices` each device that has said nothing for five minutes. The topics must exist.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/09-event-time.ts
import { serdes, StreamsApp, StreamsBuilder, tumblingEventTime, valueState, watermarks } from 'millrace';
import type { AggregateFunction, FiredTimer, KeyedProcessor, KeyedProcessorContext, Record, ValueState } from 'millrace';

interface Reading {
  readonly celsius: number;
}
interface MinuteMean {
  readonly from: number;
  readonly celsius: number;
  readonly revision: number;
}

const minute = 60_000;

const mean: AggregateFunction<Reading, { sum: number; count: number }, number> = {
  initial: () => ({ sum: 0, count: 0 }),
  add: ({ sum, count }, { celsius }) => ({ sum: sum + celsius, count: count + 1 }),
  result: ({ sum, count }) => sum / count,
};

const deadline = valueState<number>('deadline', { serde: serdes.double });

/** Moves a timer of its device on with each reading; when it fires, nothing came in time. */
class Silence implements KeyedProcessor<string, Reading, string, string> {
  declare private context: KeyedProcessorContext<string, string, string>;
  declare private deadline: ValueState<number>;

  init(context: KeyedProcessorContext<string, string, string>): void {
    this.context = context;
    this.deadline = context.state(deadline);
  }

  process({ timestamp }: Record<string, Reading>): void {
    const before = this.deadline.value();
    const after = timestamp + 5 * minute;
    if (before !== null && before >= after) return;
    if (before !== null) this.context.timers.deleteEventTimer(before);
    this.context.timers.registerEventTimer(after);
    this.deadline.update(after);
  }

  onTimer({ key, time }: FiredTimer<string>): void | Promise<void> {
    this.deadline.clear();
    return this.context.forward({ key, value: `silent since ${new Date(time - 5 * minute).toISOString()}` });
  }
}

const builder = new StreamsBuilder();
const byDevice = builder
  .stream('readings', {
    keySerde: serdes.string,
    valueSerde: serdes.json<Reading>(),
    watermarks: watermarks.boundedOutOfOrderness(5_000, { idleness: 30_000 }),
  })
  .keyBy();

const { results, late } = byDevice.window(tumblingEventTime({ size: minute }), { allowedLateness: 10 * minute }).aggregate(mean, {
  name: 'minute-mean',
  sideOutputLate: true,
  apply: (_device, celsius, { window, revision }): MinuteMean => ({ from: window.start, celsius, revision }),
});
results
  .map((found, { key }) => [key, found] as const, { keySerde: serdes.string, valueSerde: serdes.json<MinuteMean>() })
  .to('minute-means');
late.to('late-readings');

byDevice
  .process(() => new Silence(), { name: 'silence', states: [deadline], keySerde: serdes.string, valueSerde: serdes.string })
  .to('silent-devices');

const app = new StreamsApp(builder.build({ explicitNames: 'require' }), {
  applicationId: 'device-minutes',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
});
process.once('SIGINT', () => void app.close().catch(console.error));
process.once('SIGTERM', () => void app.close().catch(console.error));
await app.start();
