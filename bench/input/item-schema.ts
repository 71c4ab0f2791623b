import type { Serde } from '../../src/index.js';
import { serdes } from '../../src/index.js';
import type { Item } from './record-shape.js';

/** Of {@link Item}; java/…/AvroItem.java has the same. */
const itemSchema = {
  type: 'record',
  name: 'Item',
  namespace: 'millrace.bench',
  fields: [
    { name: 'item', type: 'string' },
    { name: 'amount', type: 'int' },
    { name: 'note', type: 'string' },
  ],
};

/** @param registryUrl where the schema is registered and looked up */
export function avroItems(registryUrl: string): Serde<Item> {
  return serdes.avro<Item>({ registry: { host: registryUrl }, schema: itemSchema, subject: 'bench-item' });
}
