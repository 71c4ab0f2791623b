// Two tables joined by key, inner, left and outer: the result is a table, which a change of either side changes. Runs without a broker:
//   npx tsx examples/23-table-table-joins.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const result = (storeName: string) => ({ materialized: { storeName, valueSerde: serdes.string } });

const builder = new StreamsBuilder();
const names = builder.table('names', text);
const mails = builder.table('mails', text);
names
  .join(mails, (name, mail) => `${name} <${mail}>`, result('inner-store'))
  .toStream()
  .to('inner');
names
  .leftJoin(mails, (name, mail) => `${name} <${mail ?? '?'}>`, result('left-store'))
  .toStream()
  .to('left');
names
  .outerJoin(mails, (name, mail) => `${name ?? '?'} <${mail ?? '?'}>`, result('outer-store'))
  .toStream()
  .to('outer');

await using driver = new TopologyTestDriver(builder.build());
const name = driver.inputTopic('names', text);
const mail = driver.inputTopic('mails', text);
await mail.pipe('1', 'a@x'); // no name yet
await name.pipe('1', 'Ada');
await mail.pipe('1', null); // the mail is deleted: null under the key deletes the result

for (const topic of ['inner', 'left', 'outer']) {
  console.log(
    `${topic}: ${driver
      .outputTopic(topic, text)
      .readAll()
      .map(({ value }) => value ?? 'deleted')
      .join(', ')}`,
  );
}

// Prints:
// inner: Ada <a@x>, deleted
// left: Ada <a@x>, Ada <?>
// outer: ? <a@x>, Ada <a@x>, Ada <?>
