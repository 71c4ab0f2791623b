// The mean of a minute, after a crash in the middle of it: sum and count are kept with the position, so the third reading makes 66/3 and not 24/1. Runs without a broker:
//   npx tsx examples/54-minute-mean-after-a-crash.ts
import { serdes, tumblingEventTime, type KStream } from 'millrace';
import { TestHarness } from 'millrace/testing';

const minute = 60_000;
const numbers = { keySerde: serdes.string, valueSerde: serdes.double };

const minuteMean = (readings: KStream<string, number>) =>
  readings
    .keyBy()
    .window(tumblingEventTime({ size: minute }), { allowedLateness: 10_000 })
    .aggregate(
      {
        initial: () => ({ sum: 0, count: 0 }),
        add: ({ sum, count }, celsius) => ({ sum: sum + celsius, count: count + 1 }),
        result: ({ sum, count }) => ({ sum, count, mean: sum / count }),
      },
      { name: 'mean', apply: (device, mean, { revision }) => ({ device, ...mean, revision }) },
    );

await using before = new TestHarness(minuteMean, numbers);
await before.push('device-A', 20, { timestamp: 12_000 });
await before.push('device-A', 22, { timestamp: 40_000 });
const committed = await before.snapshot(); // what an app has in its changelog, with its offsets, after a commit

// The instance dies; another one goes on where the commit was, with as many tasks as there are here.
await using after = new TestHarness(minuteMean, { ...numbers, parallelism: 2, from: committed });
await after.push('device-A', 24, { timestamp: 20_000 });
await after.pushWatermark(minute - 1);
await after.push('device-A', 26, { timestamp: 50_000 }); // late, and in time for an update
await after.pushWatermark(minute + 9_999);
await after.push('device-A', 99, { timestamp: 50_000 }); // too late

for (const { value } of after.outputs()) console.log(JSON.stringify(value));
console.log(`${after.dropped.get('late')} too late`);

// Prints:
// {"device":"device-A","sum":66,"count":3,"mean":22,"revision":1}
// {"device":"device-A","sum":92,"count":4,"mean":23,"revision":2}
// 1 too late
