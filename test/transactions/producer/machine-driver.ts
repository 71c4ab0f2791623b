import type { TopicMetadata } from '../../../src/kafka/port.js';
import { ProducerMachine, type ProducerMachineOptions } from '../../../src/transactions/producer/producer-machine.js';
import type { BatchRef, ProducerAnswer, ProducerCommand } from '../../../src/transactions/producer/producer-protocol.js';

type Command<K extends ProducerCommand['kind']> = Extract<ProducerCommand, { kind: K }>;
type Unnumbered<A> = A extends unknown ? Omit<A, 'now' | 'call'> : never;

/** Drives a machine by hand: every command it gives waits in `out` until a test takes it. */
export class MachineDriver {
  now = 1000;
  out: ProducerCommand[] = [];
  readonly machine: ProducerMachine;
  private lastBatch = 0;

  constructor(options: Partial<ProducerMachineOptions> = {}) {
    this.machine = new ProducerMachine({
      transactional: true,
      transactionV2: false,
      transactionTimeoutMs: 10_000,
      random: () => 0.5,
      ...options,
    });
  }

  init(): void {
    this.send({ kind: 'init' });
  }

  enqueue(topic = 'out', partition = 0, recordCount = 10): number {
    const batch: BatchRef = { id: ++this.lastBatch, topic, partition, recordCount, byteLength: recordCount * 100 };
    this.send({ kind: 'enqueue', batches: [batch] });
    return batch.id;
  }

  commit(groupId: string | null = 'group'): void {
    this.send({ kind: 'commit', groupId });
  }

  abort(): void {
    this.send({ kind: 'abort' });
  }

  /** Lets time pass and wakes the machine. */
  after(ms: number): void {
    this.now += ms;
    this.send({ kind: 'tick' });
  }

  /** Takes the next command, which has to be of this kind; `wake` and `release` are skipped. */
  take<K extends ProducerCommand['kind']>(kind: K): Command<K> {
    this.skip(kind);
    const command = this.out.shift();
    if (command?.kind !== kind) throw new Error(`expected ${kind}, got ${command?.kind ?? 'nothing'} in state ${this.machine.state}`);
    return command as Command<K>;
  }

  /** Kinds of the commands that wait, without `wake` and `release`. */
  get kinds(): string[] {
    return this.out.map(({ kind }) => kind).filter((kind) => kind !== 'wake' && kind !== 'release');
  }

  get wakeAt(): number {
    const wakes = this.out.filter((command) => command.kind === 'wake');
    return wakes.at(-1)?.at ?? Infinity;
  }

  answer(command: { readonly call: number }, answer: Unnumbered<ProducerAnswer>): void {
    this.send({ ...answer, call: command.call });
  }

  lose(command: { readonly call: number }): void {
    this.answer(command, { kind: 'lost' });
  }

  /** Answers a FindCoordinator. */
  found(broker = 1): Command<'findCoordinator'> {
    const command = this.take('findCoordinator');
    this.answer(command, { kind: 'coordinatorFound', broker });
    return command;
  }

  identified(producerEpoch: number, errorCode = 0): Command<'initProducerId'> {
    const command = this.take('initProducerId');
    this.answer(command, { kind: 'identified', errorCode, identity: { producerId: 7n, producerEpoch } });
    return command;
  }

  /** Answers a metadata request: every topic has `partitions` partitions led by broker `partition % brokers`. */
  described(partitions = 4, brokers = 1, errorCode = 0): Command<'refreshMetadata'> {
    const command = this.out.find((waiting) => waiting.kind === 'refreshMetadata');
    if (command === undefined) throw new Error(`no metadata is asked for in state ${this.machine.state}`);
    this.out.splice(this.out.indexOf(command), 1);
    const topics = new Map(command.topics.map((topic) => [topic, topicMetadata(topic, partitions, brokers, errorCode)]));
    this.answer(command, { kind: 'metadata', topics });
    return command;
  }

  step(kind: 'addPartitions' | 'addOffsets' | 'commitOffsets', errorCode = 0): ProducerCommand {
    const command = this.take(kind);
    this.answer(command, { kind: 'answered', results: [{ topic: 'in', partition: 0, errorCode }] });
    return command;
  }

  produced(errorCode = 0, baseOffset = 100): Command<'produce'> {
    const command = this.take('produce');
    this.answerProduce(command, errorCode, baseOffset);
    return command;
  }

  answerProduce(command: Command<'produce'>, errorCode = 0, baseOffset = 100): void {
    this.answer(command, { kind: 'produced', results: command.batches.map(({ batchId }) => ({ batchId, errorCode, baseOffset })) });
  }

  ended(errorCode = 0, next: number | null = null): Command<'endTxn'> {
    const command = this.take('endTxn');
    this.answer(command, { kind: 'ended', errorCode, next: next === null ? null : { producerId: 7n, producerEpoch: next } });
    return command;
  }

  /** From nothing to `ready` with epoch 0. */
  ready(): this {
    this.init();
    if (this.kinds[0] === 'findCoordinator') this.found();
    this.identified(0);
    this.take('ready');
    return this;
  }

  /** A first batch on its way: leader known, partition added (protocol 1); its Produce waits in `out`. */
  producing(): this {
    this.ready().enqueue();
    this.described();
    if (this.kinds[0] === 'addPartitions') this.step('addPartitions');
    return this;
  }

  /** Up to an EndTxn that waits in `out`. */
  ending(): this {
    this.producing().produced();
    this.commit();
    if (this.kinds[0] === 'addOffsets') this.step('addOffsets');
    this.found(2);
    this.step('commitOffsets');
    return this;
  }

  private skip(wanted: string): void {
    while (this.out[0] !== undefined && (this.out[0].kind === 'wake' || this.out[0].kind === 'release') && this.out[0].kind !== wanted)
      this.out.shift();
  }

  private send(event: { readonly kind: string } & Record<string, unknown>): void {
    this.out.push(...this.machine.handle({ ...event, now: this.now } as never));
  }
}

export function topicMetadata(name: string, partitions: number, brokers = 1, errorCode = 0): TopicMetadata {
  const described = Array.from({ length: partitions }, (_, partition) => ({
    partition,
    leader: partition % brokers,
    leaderEpoch: 0,
    errorCode: 0,
  }));
  return { name, topicId: null, isInternal: false, errorCode, partitions: described };
}
