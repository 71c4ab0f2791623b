// A topology built node by node, and its picture in text. Runs without a broker:
//   npx tsx examples/41-topology-builder.ts
import { serdes, TopologyBuilder } from 'millrace';
import type { Processor, ProcessorContext, Record } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

/** Sends each record to the child that its value names. */
class Router implements Processor<string, string, string, string> {
  declare private context: ProcessorContext<string, string>;

  init(context: ProcessorContext<string, string>): void {
    this.context = context;
  }

  process({ key, value }: Record<string, string>): void | Promise<void> {
    return this.context.forward({ key, value }, value === 'urgent' ? 'fast-lane' : 'slow-lane');
  }
}

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const topology = new TopologyBuilder()
  .addSource('parcels', { topics: ['parcels'], ...text })
  .addProcessor('router', () => new Router(), ['parcels'])
  .addSink('fast-lane', 'by-air', ['router'], text)
  .addSink('slow-lane', 'by-sea', ['router'], text)
  .build();
console.log(topology.describe().trimEnd());

await using driver = new TopologyTestDriver(topology);
const parcel = driver.inputTopic('parcels', text);
await parcel.pipe('1', 'urgent');
await parcel.pipe('2', 'cheap');
for (const topic of ['by-air', 'by-sea']) {
  for (const { key } of driver.outputTopic(topic, text).readAll()) console.log(`${topic}: ${key}`);
}

// Prints:
// Topologies:
//    Sub-topology: 0
//     Source: parcels (topics: [parcels])
//       --> router
//     Processor: router (stores: [])
//       --> fast-lane, slow-lane
//       <-- parcels
//     Sink: fast-lane (topic: by-air)
//       <-- router
//     Sink: slow-lane (topic: by-sea)
//       <-- router
// by-air: 1
// by-sea: 2
