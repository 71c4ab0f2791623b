import { cannotDeserialize, cannotSerialize } from './serde-error.js';
import { inPlaceSerde } from './in-place-serde.js';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A UUID as text of 36 characters, as Java's `UUIDSerializer`. Case is kept as given; Java and `crypto.randomUUID` write lower case. */
export const uuidSerde = inPlaceSerde<string>({
  name: 'uuid',
  valueIsIdentity: true,
  encode: (value, out) => {
    if (typeof value !== 'string' || !form.test(value)) throw cannotSerialize('uuid', value);
    out.writeUtf8(value);
  },
  decode: (buffer, start, end) => {
    const text = buffer.toString('latin1', start, end);
    if (!form.test(text)) throw cannotDeserialize('uuid', buffer, start, end, new Error('not a UUID'));
    return text;
  },
});
