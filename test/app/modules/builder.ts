import { StreamsBuilder } from '../../../src/index.js';

export default new StreamsBuilder();
