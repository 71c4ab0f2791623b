import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { ProducerMachine } from '../../../src/transactions/producer/producer-machine.js';
import type { BatchRef, ProducerCommand, ProducerEvent } from '../../../src/transactions/producer/producer-protocol.js';
import { BrokerModel } from './broker-model.js';

/**
 * Runs an app of a few epochs against the broker model under a schedule: which answer comes next, which requests are refused, lost before or after
 * they were carried out, or carried out late. The schedule is a tape of numbers; where it ends everything goes well, so every run ends.
 */
class Schedule {
  private at = 0;
  constructor(private readonly tape: readonly number[]) {}

  next(below: number): number {
    const value = this.tape[this.at++];
    return value === undefined ? 0 : value % below;
  }
}

interface Epoch {
  readonly number: number;
  readonly batches: number[];
  /** A Produce or TxnOffsetCommit of it got no answer. */
  hadDoubt: boolean;
  outcome: 'filling' | 'committing' | 'committed' | 'aborted' | 'unknown';
}

const EPOCHS = 5;
const injectable = [6, 7, 15, 16, 19, 51, 45, 48, 90, 120];

class Simulation {
  readonly epochs: Epoch[] = [];
  readonly violations: string[] = [];
  readonly broker: BrokerModel;
  readonly epochOfBatch = new Map<number, Epoch>();
  private readonly machine: ProducerMachine;
  private readonly pending: (ProducerCommand & { readonly call: number })[] = [];
  /** Requests whose answer is lost already, still to be carried out. */
  private readonly late: { readonly command: ProducerCommand; readonly offsets: number }[] = [];
  private now = 0;
  private wakeAt = Infinity;
  private isReady = false;
  private lastBatch = 0;

  constructor(
    private readonly transactional: boolean,
    transactionV2: boolean,
    private readonly schedule: Schedule,
  ) {
    this.broker = new BrokerModel(transactional, transactionV2, () => this.schedule.next(4));
    const random = (): number => this.schedule.next(100) / 100;
    this.machine = new ProducerMachine({ transactional, transactionV2, transactionTimeoutMs: 10_000, random });
  }

  run(): this {
    this.send({ kind: 'init', now: this.now });
    for (let steps = 0; steps < 20_000; steps++) {
      if (this.epochs.filter(({ outcome }) => outcome === 'committed').length >= EPOCHS) break;
      this.step();
    }
    while (this.late.length > 0) this.carryOutLate();
    this.broker.settle();
    return this;
  }

  private step(): void {
    if (this.late.length > 0 && this.schedule.next(4) === 0) this.carryOutLate();
    else if (this.schedule.next(3) === 0 && this.act()) return;
    else if (this.pending.length > 0) this.answerOne();
    else if (!this.act()) this.wake();
  }

  /** What the app does next; false when it waits. */
  private act(): boolean {
    const { machine } = this;
    if (machine.failure !== null) {
      if (machine.state === 'aborting' || machine.state === 'ready') this.send({ kind: 'abort', now: this.now });
      else this.send({ kind: 'init', now: this.now });
      return true;
    }
    const epoch = this.current();
    if (!this.isReady || epoch.outcome !== 'filling') return false;
    if (epoch.batches.length < 1 || this.schedule.next(4) !== 0) this.enqueue(epoch);
    else {
      epoch.outcome = 'committing';
      this.send({ kind: 'commit', now: this.now, groupId: 'group' });
    }
    return true;
  }

  private enqueue(epoch: Epoch): void {
    const batch: BatchRef = {
      id: ++this.lastBatch,
      topic: 'out',
      partition: this.schedule.next(2),
      recordCount: 1 + this.schedule.next(3),
      byteLength: 100,
    };
    epoch.batches.push(batch.id);
    this.epochOfBatch.set(batch.id, epoch);
    this.broker.register(batch);
    this.send({ kind: 'enqueue', now: this.now, batches: [batch] });
  }

  private current(): Epoch {
    const last = this.epochs.at(-1);
    if (last !== undefined && (last.outcome === 'filling' || last.outcome === 'committing')) return last;
    const epoch: Epoch = { number: this.epochs.length + 1, batches: [], hadDoubt: false, outcome: 'filling' };
    this.epochs.push(epoch);
    return epoch;
  }

  private answerOne(): void {
    const [command] = this.pending.splice(this.schedule.next(this.pending.length), 1);
    if (command === undefined) return;
    const { call } = command;
    const offsets = this.current().number;
    const fate = this.schedule.next(12);
    if (fate === 11) {
      this.broker.carryOut(command, offsets);
      this.lose(command);
      return;
    }
    if (fate === 10) {
      this.late.push({ command, offsets });
      this.lose(command);
      return;
    }
    if (fate === 9) {
      this.lose(command);
      return;
    }
    const refusal = fate === 8 ? this.refusal(command) : null;
    const answer = refusal ?? this.broker.carryOut(command, offsets);
    this.send({ ...answer, now: this.now, call } as ProducerEvent);
  }

  private lose(command: ProducerCommand & { readonly call: number }): void {
    if (command.kind === 'produce') for (const { batchId } of command.batches) this.doubt(this.epochOfBatch.get(batchId));
    if (command.kind === 'commitOffsets' && this.transactional) this.doubt(this.current());
    this.now += this.schedule.next(50);
    this.send({ kind: 'lost', now: this.now, call: command.call });
  }

  private doubt(epoch: Epoch | undefined): void {
    if (epoch !== undefined) epoch.hadDoubt = true;
  }

  private refusal(command: ProducerCommand): object | null {
    const errorCode = injectable[this.schedule.next(injectable.length)] ?? 7;
    switch (command.kind) {
      case 'produce':
        return { kind: 'produced', results: command.batches.map(({ batchId }) => ({ batchId, errorCode, baseOffset: -1 })) };
      case 'initProducerId':
        return { kind: 'identified', errorCode, identity: { producerId: -1n, producerEpoch: -1 } };
      case 'endTxn':
        return { kind: 'ended', errorCode, next: null };
      case 'addPartitions':
      case 'addOffsets':
      case 'commitOffsets':
        return { kind: 'answered', results: [{ errorCode }] };
      default:
        return null;
    }
  }

  private carryOutLate(): void {
    const [late] = this.late.splice(this.schedule.next(this.late.length), 1);
    if (late !== undefined) this.broker.carryOut(late.command, late.offsets);
  }

  private wake(): void {
    this.now = Math.max(this.now, this.wakeAt === Infinity ? this.now + 1 : this.wakeAt);
    this.wakeAt = Infinity;
    this.send({ kind: 'tick', now: this.now });
  }

  private send(event: ProducerEvent): void {
    if (event.kind === 'init' || event.kind === 'abort') this.isReady = false;
    for (const command of this.machine.handle(event)) this.obey(command);
    if (this.machine.failure !== null) this.isReady = false;
  }

  private obey(command: ProducerCommand): void {
    const epoch = this.epochs.at(-1);
    switch (command.kind) {
      case 'wake':
        this.wakeAt = command.at;
        return;
      case 'release':
        return;
      case 'ready':
        this.isReady = true;
        return;
      case 'committed':
        if (epoch?.outcome !== 'committing') this.violations.push('committed without a commit');
        else epoch.outcome = 'committed';
        return;
      case 'failed':
        if (command.failure.severity === 'fatal') this.violations.push(`fatal: ${command.failure.message}`);
        if (epoch !== undefined && (epoch.outcome === 'filling' || epoch.outcome === 'committing')) epoch.outcome = command.failure.outcome;
        return;
      case 'endTxn':
        if (epoch?.hadDoubt === true) this.violations.push(`epoch ${epoch.number} is committed although an answer is missing`);
        this.pending.push(command);
        return;
      default:
        this.pending.push(command);
    }
  }
}

function entriesOf(simulation: Simulation, epoch: Epoch): { readonly batchId: number; readonly status: string }[] {
  return [...simulation.broker.logs.values()].flatMap(({ entries }) =>
    entries.filter(({ batchId }) => simulation.epochOfBatch.get(batchId) === epoch),
  );
}

const tapes = fc.array(fc.nat({ max: 1000 }), { maxLength: 400 });
const runs = { numRuns: 800 };

describe.each([
  ['protocol 1', false],
  ['protocol 2', true],
])('under any schedule of answers, refusals and losses, a transactional producer (%s)', (_, v2) => {
  it('commits each epoch whole or not at all, never two at once, never with an answer missing, never a sequence twice', () => {
    fc.assert(
      fc.property(tapes, (tape) => {
        const simulation = new Simulation(true, v2, new Schedule(tape)).run();
        expect([...simulation.violations, ...simulation.broker.violations]).toEqual([]);
        for (const epoch of simulation.epochs) {
          const entries = entriesOf(simulation, epoch);
          const committed = entries.filter(({ status }) => status === 'committed').map(({ batchId }) => batchId);
          if (epoch.outcome !== 'filling') expect(entries.filter(({ status }) => status === 'open')).toEqual([]);
          const areOffsetsCommitted = simulation.broker.committedOffsets.includes(epoch.number);
          if (epoch.outcome === 'committed' || (epoch.outcome === 'unknown' && areOffsetsCommitted)) {
            expect(committed.sort((a, b) => a - b)).toEqual(epoch.batches);
            expect(areOffsetsCommitted).toBe(true);
          } else {
            expect(committed).toEqual([]);
            expect(areOffsetsCommitted).toBe(false);
          }
        }
        for (const { entries } of simulation.broker.logs.values()) {
          const committed = entries.filter(({ status }) => status === 'committed').map(({ batchId }) => batchId);
          expect(committed).toEqual([...committed].sort((a, b) => a - b));
        }
        expect(simulation.epochs.filter(({ outcome }) => outcome === 'committed')).toHaveLength(EPOCHS);
      }),
      runs,
    );
  });
});

describe('under any schedule, an idempotent producer', () => {
  it('commits the offsets of an epoch only after all of its batches stand in the log, each once and in order', () => {
    fc.assert(
      fc.property(tapes, (tape) => {
        const simulation = new Simulation(false, false, new Schedule(tape)).run();
        expect([
          ...simulation.violations.filter((text) => !text.includes('an answer is missing')),
          ...simulation.broker.violations,
        ]).toEqual([]);
        for (const epoch of simulation.epochs) {
          if (epoch.outcome !== 'committed') continue;
          const ids = entriesOf(simulation, epoch).map(({ batchId }) => batchId);
          expect(ids.sort((a, b) => a - b)).toEqual(epoch.batches);
        }
        expect(simulation.epochs.filter(({ outcome }) => outcome === 'committed')).toHaveLength(EPOCHS);
      }),
      runs,
    );
  });
});
