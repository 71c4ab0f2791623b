// A table whose values need state: each row says how often it has changed. Runs without a broker:
//   npx tsx examples/29-transformed-table.ts
import { serdes, stores, StreamsBuilder } from 'millrace';
import type { KeyValueStore, ProcessingContext, ValueTransformer } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

class Revisions implements ValueTransformer<string, string, string> {
  declare private changes: KeyValueStore<string, number>;

  init(context: ProcessingContext): void {
    this.changes = context.store('changes', 'keyValue');
  }

  transform(address: string | null, user: string): string | null {
    const revision = (this.changes.get(user) ?? 0) + 1;
    this.changes.put(user, revision);
    return address === null ? null : `${address}, revision ${revision}`; // null: the row is deleted
  }
}

const builder = new StreamsBuilder();
builder
  .table('addresses', text)
  .transformValues(() => new Revisions(), {
    stores: [stores.keyValue({ name: 'changes', keySerde: serdes.string, valueSerde: serdes.int32 })],
    valueSerde: serdes.string,
    materialized: { storeName: 'revisions' }, // so that each change is transformed once
  })
  .toStream()
  .to('revisions-of-addresses');

await using driver = new TopologyTestDriver(builder.build());
const addresses = driver.inputTopic('addresses', text);
await addresses.pipe('ada', 'London');
await addresses.pipe('bob', 'Basel');
await addresses.pipe('ada', null); // moves out
await addresses.pipe('ada', 'Paris');

for (const { key, value } of driver.outputTopic('revisions-of-addresses', text).readAll()) console.log(`${key}: ${value ?? 'deleted'}`);

// Prints:
// ada: London, revision 1
// bob: Basel, revision 1
// ada: deleted
// ada: Paris, revision 3
