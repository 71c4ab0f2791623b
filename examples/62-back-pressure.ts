// A service that is too slow, one app that calls it: nothing is dropped, the source waits in the log, and the metrics say which task it is. Paused meanwhile for its maintenance. Run:
//   npx tsx examples/62-back-pressure.ts
import { setTimeout as sleep } from 'node:timers/promises';
import { serdes, StreamsBuilder } from 'millrace';
import { inMemoryKafka } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
let begun = 0;
const builder = new StreamsBuilder();
builder
  .stream('orders', text)
  .mapValues(
    async (order) => {
      begun++;
      await sleep(10); // 100 orders a second, and no more
      return `${order} priced`;
    },
    { valueSerde: serdes.string },
  )
  .to('priced', text);

const kafka = inMemoryKafka();
kafka.createTopic('orders');
kafka.createTopic('priced');
const app = kafka.app(builder.build(), { applicationId: 'prices', maxBufferedBytes: 64 * 1024 });
await app.start();

const orders = kafka.inputTopic('orders', text);
const priced = kafka.outputTopic('priced', text);
for (let i = 0; i < 300; i++) await orders.pipe('shop', `order ${i} `.padEnd(1000, '.'));

let mostBuffered = 0;
await kafka.until(() => {
  mostBuffered = Math.max(mostBuffered, app.metrics().fetcher?.bufferedBytes ?? 0);
  return priced.size >= 100;
});
const { busyTimeMsPerSecond = 0, lag = {} } = app.metrics().tasks['0_0'] ?? {};
console.log(`the task is the bottleneck: ${busyTimeMsPerSecond > 500}, it lags behind: ${(lag['orders-0'] ?? 0) > 100}`);
console.log(`more than 64 KiB in memory: ${mostBuffered > 64 * 1024}`);

app.pause(); // the service goes down for maintenance
await kafka.until(() => priced.size === begun); // what was in work is committed
const before = priced.size;
await sleep(200); // the service is worked on
console.log(`paused: ${app.isPaused}, state: ${app.state}, priced meanwhile: ${priced.size - before}`);
app.resume();

await kafka.until(() => priced.size === 300);
console.log(`priced: ${priced.size}`);
await app.close();

// Prints:
// the task is the bottleneck: true, it lags behind: true
// more than 64 KiB in memory: false
// paused: true, state: running, priced meanwhile: 0
// priced: 300
