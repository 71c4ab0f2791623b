import { serdes, StreamsBuilder } from '../../../src/index.js';

const builder = new StreamsBuilder();
builder.stream('in').to('out');

export default builder.build();
export const config = { defaultKeySerde: serdes.string, defaultValueSerde: serdes.string };
