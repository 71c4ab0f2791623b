import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';

/** Always null, as Java's `VoidSerializer`. Null never reaches a serde, so both directions refuse. */
export const voidSerde = inPlaceSerde<null>({
  name: 'void',
  valueIsIdentity: true,
  encode: (value) => {
    throw cannotSerialize('void', value, new Error('only null is allowed'));
  },
  decode: (buffer, start, end) => {
    throw cannotDeserialize('void', buffer, start, end, new Error('only null is allowed'));
  },
});
