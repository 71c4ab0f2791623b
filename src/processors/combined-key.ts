/** Keys of the store of subscriptions: the foreign key's length and bytes, then the primary key's, so that all that subscribe to a key lie together. The same bytes as in Kafka Streams. */
import { ByteWriter } from '../bytes/byte-writer.js';
import type { CompiledSerde } from '../serdes/serde.js';

export class CombinedKeys<KO, K> {
  private readonly out = new ByteWriter(64);

  constructor(
    private readonly foreignKeySerde: CompiledSerde<KO>,
    private readonly primaryKeySerde: CompiledSerde<K>,
  ) {}

  /** What the keys of all subscriptions to a foreign key begin with. */
  prefix(foreignKey: KO): Buffer {
    this.writeForeignKey(foreignKey);
    return this.out.copy();
  }

  key(foreignKey: KO, primaryKey: K): Buffer {
    this.writeForeignKey(foreignKey);
    this.primaryKeySerde.encode(primaryKey, this.out);
    return this.out.copy();
  }

  private writeForeignKey(foreignKey: KO): void {
    const { out } = this;
    out.reset();
    out.writeInt32(0);
    this.foreignKeySerde.encode(foreignKey, out);
    out.buffer.writeInt32BE(out.length - 4, 0);
  }
}
