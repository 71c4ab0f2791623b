import { serdes, StreamsBuilder, type TopologyContext } from '../../../src/index.js';

export default async ({ config, thread }: TopologyContext) => {
  const builder = new StreamsBuilder();
  builder.stream('in', { name: `${config.applicationId}-${String(thread)}`, keySerde: serdes.string, valueSerde: serdes.string }).to('out');
  return builder.build();
};
