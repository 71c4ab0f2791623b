/** The input topics, each loaded when the first row asks for it and read by all rows after that. */
import type { KafkaPort } from '../../src/kafka/port.js';
import { RecordSender } from '../clients/record-sender.js';
import { distinctKeyIndexOf, keyIndexOf, keyOf, makeValues } from './record-shape.js';

export interface Input {
  readonly topic: string;
  readonly records: number;
  readonly keys: number;
}

export interface InputShape {
  readonly records: number;
  readonly keys: number;
  /** Each of the first `keys` records has a key of its own. */
  readonly distinct?: boolean;
  /** For a topic that only this reader has. */
  readonly reader?: string;
}

export class Inputs {
  private readonly loaded = new Map<string, Promise<Input>>();

  constructor(
    private readonly port: KafkaPort,
    private readonly partitions: number,
    private readonly log: (text: string) => void,
  ) {}

  /** The topic with records of this shape. */
  get(shape: InputShape): Promise<Input> {
    const topic = `bench-input-${shape.records}-records-${shape.keys}-${shape.distinct ? 'distinct-' : ''}keys${shape.reader === undefined ? '' : `-${shape.reader}`}`;
    let input = this.loaded.get(topic);
    if (input === undefined) this.loaded.set(topic, (input = this.load(topic, shape)));
    return input;
  }

  private async load(topic: string, { records, keys, distinct = false }: InputShape): Promise<Input> {
    this.log(`Loading ${records.toLocaleString('en')} records with ${keys.toLocaleString('en')} keys`);
    await this.port.admin.createTopics([{ topic, partitions: this.partitions, replicationFactor: -1, configs: {} }]);
    const sender = await RecordSender.open(this.port, topic);
    const values = makeValues().map((value) => Buffer.from(value));
    const indexOf = distinct ? distinctKeyIndexOf : keyIndexOf;
    for (let i = 0; i < records; i++) {
      if (sender.append(Date.now(), keyOf(indexOf(i, keys)), values[i % values.length] ?? Buffer.alloc(0))) await sender.send();
    }
    await sender.flush();
    return { topic, records, keys };
  }
}
