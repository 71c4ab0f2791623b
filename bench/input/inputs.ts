/** The input topics, each loaded when the first row asks for it and read by all rows after that. */
import type { KafkaPort } from '../../src/kafka/port.js';
import { RecordSender } from '../clients/record-sender.js';
import { avroItems } from './item-schema.js';
import type { KeyOrder, ValueKind } from './record-shape.js';
import { keyIndexOf, keyOf, makeItems, makeValues, valueBytes as usualValueBytes } from './record-shape.js';

export interface Input {
  readonly topic: string;
  readonly records: number;
  readonly keys: number;
}

export interface InputShape {
  readonly records: number;
  readonly keys: number;
  /** Default: `shuffled`. */
  readonly order?: KeyOrder;
  /** One record of every key comes before the others, beside `records`. */
  readonly preload?: boolean;
  /** Default: `letters`. */
  readonly values?: ValueKind;
  /** Of each value, when they are letters. Default: 100. */
  readonly valueBytes?: number;
  /** Default: 4. */
  readonly partitions?: number;
  /**
   * `oneMillisecondEach`: record `i` has a time `i` milliseconds after a moment that all topics of a run share. `beforeAll`: all have the time just before that.
   * Default: the time of loading.
   */
  readonly eventTime?: 'oneMillisecondEach' | 'beforeAll';
  /** Tells topics of the same shape apart. */
  readonly role?: string;
}

/** Far enough back for every event time to lie in the past, near enough for no topic to be deleted for its age. */
const eventTimeBefore = 24 * 60 * 60 * 1000;

export class Inputs {
  private readonly loaded = new Map<string, Promise<Input>>();
  private readonly firstEventTime = Date.now() - eventTimeBefore;

  constructor(
    private readonly port: KafkaPort,
    private readonly partitions: number,
    private readonly registryUrl: string | null,
    private readonly log: (text: string) => void,
  ) {}

  /** The topic with records of this shape. */
  get(shape: InputShape): Promise<Input> {
    const { records, keys, order, preload, values, eventTime, role, valueBytes, partitions } = shape;
    const sizes = [
      valueBytes === undefined ? undefined : `${valueBytes}-bytes`,
      partitions === undefined ? undefined : `${partitions}-partitions`,
    ];
    const parts = [
      `bench-input-${records}-records-${keys}-keys`,
      ...sizes,
      order,
      preload ? 'preloaded' : undefined,
      values,
      eventTime,
      role,
    ];
    const topic = parts.filter((part) => part !== undefined).join('-');
    let input = this.loaded.get(topic);
    if (input === undefined) this.loaded.set(topic, (input = this.load(topic, shape)));
    return input;
  }

  private async load(topic: string, shape: InputShape): Promise<Input> {
    const { records, keys, order, preload, eventTime, partitions = this.partitions } = shape;
    const preloaded = preload ? keys : 0;
    const all = preloaded + records;
    this.log(`Loading ${all.toLocaleString('en')} records with ${keys.toLocaleString('en')} keys`);
    await this.port.admin.createTopics([{ topic, partitions, replicationFactor: -1, configs: {} }]);
    const sender = await RecordSender.open(this.port, topic);
    const values = await this.valuesOf(shape);
    for (let i = 0; i < all; i++) {
      const timestamp = eventTime === undefined ? Date.now() : this.firstEventTime + (eventTime === 'beforeAll' ? -1 : i);
      if (
        sender.append(timestamp, keyOf(keyIndexOf(i, keys, i < preloaded ? 'inTurn' : order)), values[i % values.length] ?? Buffer.alloc(0))
      )
        await sender.send();
    }
    await sender.flush();
    return { topic, records: all, keys };
  }

  private async valuesOf({ values = 'letters', valueBytes = usualValueBytes }: InputShape): Promise<Buffer[]> {
    if (values !== 'avro') return makeValues(values, valueBytes).map((value) => Buffer.from(value));
    if (this.registryUrl === null) throw new Error('Avro values need a schema registry');
    const serde = avroItems(this.registryUrl);
    await serde.prepare?.({ topic: 'bench', part: 'value' });
    return makeItems().map((item) => Buffer.from(serde.serialize(item)));
  }
}
