import { compileSerde } from '../serdes/compile-serde.js';
import type { CompiledSerde, Serde } from '../serdes/serde.js';
import type { TestRecord } from './test-record.js';
import type { LoggedRecord, TopicLog } from './topic-log.js';

/**
 * Reads what the topology wrote to a topic, each record once, in the order of writing; several readers of a topic do not disturb each other.
 * Made by `TopologyTestDriver.outputTopic` and `TestKafka.outputTopic`.
 */
export class TestOutputTopic<K, V> {
  private readonly keySerde: CompiledSerde<K>;
  private readonly valueSerde: CompiledSerde<V>;
  private position = 0;

  /** @internal */
  constructor(
    readonly name: string,
    keySerde: Serde<K>,
    valueSerde: Serde<V>,
    private readonly log: Pick<TopicLog, 'records'>,
  ) {
    this.keySerde = compileSerde(keySerde);
    this.valueSerde = compileSerde(valueSerde);
  }

  /** Whether all was read. */
  get isEmpty(): boolean {
    return this.size === 0;
  }

  /** Records not read yet. */
  get size(): number {
    return this.log.records(this.name).length - this.position;
  }

  /** The next record, or null when there is none. */
  read(): TestRecord<K, V> | null {
    const record = this.log.records(this.name)[this.position];
    if (record === undefined) return null;
    this.position++;
    return this.decode(record);
  }

  /** All records not read yet. */
  readAll(): TestRecord<K, V>[] {
    const records = this.log.records(this.name).slice(this.position);
    this.position += records.length;
    return records.map((record) => this.decode(record));
  }

  private decode({ key, value, timestamp, headers, partition }: LoggedRecord): TestRecord<K, V> {
    return {
      key: key === null ? null : this.keySerde.decodeSync(key, 0, key.length),
      value: value === null ? null : this.valueSerde.decodeSync(value, 0, value.length),
      timestamp,
      headers,
      partition,
    };
  }
}
