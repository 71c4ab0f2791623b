/** What each thread of app.ts imports and runs: work that keeps a core busy, and a count. */
import { scryptSync } from 'node:crypto';
import { serdes, StreamsBuilder, type StreamsConfig } from 'millrace';

const builder = new StreamsBuilder();
const fingerprints = builder.stream<string, string>('documents').mapValues((text) => scryptSync(text, 'documents', 16).toString('hex'));
fingerprints.to('fingerprints');
fingerprints.groupByKey().count({ materialized: { storeName: 'documents-of' } });

export default builder.build();

/** Serdes and handlers have functions, which can't be sent to a thread. */
export const config = {
  defaultKeySerde: serdes.string,
  defaultValueSerde: serdes.string,
} satisfies Partial<StreamsConfig>;
