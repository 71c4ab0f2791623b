import { describe, expect, it } from '@jest/globals';
import { MachineDriver } from './machine-driver.js';

const v1 = { transactionV2: false };
const v2 = { transactionV2: true };

describe('the identity', () => {
  it('comes from the transaction coordinator before anything else', () => {
    const d = new MachineDriver();
    d.init();
    expect(d.machine.state).toBe('initialising');
    expect(d.found(3)).toMatchObject({ coordinator: 'transaction', refresh: false });
    expect(d.identified(4)).toMatchObject({ broker: 3 });
    d.take('ready');
    expect(d.machine.identity).toEqual({ producerId: 7n, producerEpoch: 4 });
  });

  it('is waited for in milliseconds while the transaction of an earlier owner is being aborted', () => {
    const d = new MachineDriver();
    d.init();
    d.found();
    const pauses: number[] = [];
    for (let i = 0; i < 8; i++) {
      d.identified(0, 51);
      pauses.push(d.wakeAt - d.now);
      d.out = [];
      d.after(pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([2, 4, 8, 16, 32, 50, 50, 50]);
    d.identified(1);
    expect(d.machine.state).toBe('ready');
  });

  it.each([14, 15, 16])('is asked of the coordinator as found anew after coordinator error %i', (code) => {
    const d = new MachineDriver();
    d.init();
    d.found();
    d.identified(0, code);
    d.after(20);
    expect(d.found(2)).toMatchObject({ refresh: true });
    expect(d.identified(0)).toMatchObject({ broker: 2 });
    expect(d.machine.state).toBe('ready');
  });

  it('is given up after the delivery timeout, and can be asked for again', () => {
    const d = new MachineDriver({ deliveryTimeoutMs: 1000 });
    d.init();
    d.found();
    d.lose(d.take('initProducerId'));
    d.after(1000);
    d.lose(d.take('findCoordinator'));
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', code: 'MILL_TRANSACTION_ABORTED' });
    expect(d.machine.state).toBe('uninitialised');
    d.init();
    expect(d.kinds).toEqual(['findCoordinator']);
  });

  it('refused for want of rights is fatal', () => {
    const d = new MachineDriver();
    d.init();
    d.found();
    d.identified(0, 53);
    expect(d.take('failed').failure).toMatchObject({ severity: 'fatal', code: 'MILL_AUTHORIZATION', brokerErrorCode: 53 });
    expect(d.machine.state).toBe('fatal');
  });

  it('of an idempotent producer comes from any broker', () => {
    const d = new MachineDriver({ transactional: false });
    d.init();
    expect(d.identified(0)).toMatchObject({ broker: -1 });
    d.take('ready');
  });
});

describe('an epoch under protocol 1', () => {
  it('adds partitions, produces, adds the group, commits offsets, ends; and keeps epoch and sequences for the next', () => {
    const d = new MachineDriver(v1).ready();
    d.enqueue('out', 0, 10);
    d.described();
    expect(d.take('addPartitions').partitions).toEqual([{ topic: 'out', partition: 0 }]);
    expect(d.kinds).toEqual([]);
  });

  it('goes through every step in order', () => {
    const d = new MachineDriver(v1).producing();
    const produce = d.take('produce');
    expect(produce.batches).toEqual([{ batchId: 1, baseSequence: 0 }]);
    d.commit();
    expect(d.machine.state).toBe('flushing');
    // The group joins the transaction while the last acknowledgements are awaited.
    d.step('addOffsets');
    expect(d.kinds).toEqual([]);
    d.answerProduce(produce, 0, 100);
    expect(d.machine.state).toBe('committingOffsets');
    expect(d.found(2)).toMatchObject({ coordinator: 'group' });
    expect(d.step('commitOffsets')).toMatchObject({ broker: 2 });
    expect(d.machine.state).toBe('ending');
    d.ended();
    expect(d.take('committed').nextOffsets).toEqual(new Map([['out-0', 110]]));
    expect(d.machine.state).toBe('ready');

    d.enqueue('out', 0, 5);
    d.step('addPartitions');
    expect(d.take('produce')).toMatchObject({ identity: { producerEpoch: 0 }, batches: [{ batchId: 2, baseSequence: 10 }] });
  });

  it('names partitions that come later in one more request', () => {
    const d = new MachineDriver(v1).producing();
    d.enqueue('out', 1);
    d.enqueue('other', 0);
    expect(d.kinds).toEqual(['produce', 'addPartitions', 'refreshMetadata']);
    d.take('produce');
    d.described();
    expect(d.step('addPartitions')).toMatchObject({ partitions: [{ topic: 'out', partition: 1 }] });
  });

  it('repeats AddPartitionsToTxn within milliseconds while the markers of the last transaction are written', () => {
    const d = new MachineDriver(v1).ready();
    d.enqueue();
    d.described();
    d.step('addPartitions', 51);
    expect(d.wakeAt - d.now).toBe(2);
    d.after(2);
    d.step('addPartitions');
    d.take('produce');
  });

  it('tells the refusal that explains the others', () => {
    const d = new MachineDriver(v1).ready();
    d.enqueue();
    d.described();
    d.answer(d.take('addPartitions'), {
      kind: 'answered',
      results: [
        { topic: 'out', partition: 1, errorCode: 55 },
        { topic: 'out', partition: 0, errorCode: 29 },
      ],
    });
    expect(d.take('failed').failure).toMatchObject({ severity: 'fatal', code: 'MILL_AUTHORIZATION', topic: 'out', partition: 0 });
  });

  it('commits offsets without output', () => {
    const d = new MachineDriver(v1).ready();
    d.commit();
    d.step('addOffsets');
    d.found(2);
    d.step('commitOffsets');
    d.ended();
    expect(d.take('committed').nextOffsets.size).toBe(0);
  });
});

describe('an epoch under protocol 2', () => {
  it('needs neither AddPartitionsToTxn nor AddOffsetsToTxn, and gets its next epoch from EndTxn', () => {
    const d = new MachineDriver(v2).ready();
    d.enqueue('out', 0, 10);
    d.described();
    d.produced(0, 0);
    d.commit();
    d.found(2);
    d.step('commitOffsets');
    d.ended(0, 1);
    d.take('committed');
    d.enqueue('out', 0, 10);
    expect(d.take('produce')).toMatchObject({ identity: { producerEpoch: 1 }, batches: [{ baseSequence: 0 }] });
  });

  it('repeats a Produce with the same sequence within milliseconds after CONCURRENT_TRANSACTIONS', () => {
    const d = new MachineDriver(v2).producing();
    const first = d.produced(51);
    expect(d.wakeAt - d.now).toBe(2);
    d.after(2);
    expect(d.take('produce').batches).toEqual(first.batches);
  });
});

describe.each([
  ['protocol 1', v1],
  ['protocol 2', v2],
  ['idempotent', { transactional: false }],
])('an empty epoch (%s)', (_, options) => {
  it('does nothing', () => {
    const d = new MachineDriver(options).ready();
    d.commit(null);
    expect(d.kinds).toEqual(['committed']);
  });
});

describe('a Produce', () => {
  it('is sent several at a time, one batch a partition, at most five batches in flight', () => {
    const d = new MachineDriver({ ...v2, maxInFlightPerBroker: 10 }).producing();
    for (let i = 0; i < 6; i++) d.enqueue();
    expect(d.kinds).toEqual(Array<string>(5).fill('produce'));
    const sent = d.out.flatMap((command) => (command.kind === 'produce' ? command.batches : []));
    expect(sent.map(({ baseSequence }) => baseSequence)).toEqual([0, 10, 20, 30, 40]);
    d.produced();
    expect(d.out.at(-1)).toMatchObject({ kind: 'produce', batches: [{ batchId: 6, baseSequence: 50 }] });
  });

  it('is sent at most three at a time to a broker; the next carries all that waits for it', () => {
    const d = new MachineDriver(v2).producing();
    for (const partition of [1, 2, 3, 0, 1]) d.enqueue('out', partition);
    const batches = (): number[][] => d.out.flatMap((c) => (c.kind === 'produce' ? [c.batches.map(({ batchId }) => batchId)] : []));
    expect(batches()).toEqual([[1], [2], [3]]);
    d.produced();
    expect(batches()).toEqual([[2], [3], [5, 6, 4]]);
  });

  it.each([6, 7, 19, 20, 3, 5, 56, -1])(
    'refused with retriable code %i is sent again with the same sequence, before the ones behind it',
    (code) => {
      const d = new MachineDriver(v2).producing();
      d.enqueue();
      d.enqueue();
      const [first, second, third] = [d.take('produce'), d.take('produce'), d.take('produce')];
      d.answerProduce(first, code);
      d.answerProduce(second, 45);
      d.after(2000);
      expect(d.kinds.filter((kind) => kind === 'produce')).toEqual([]);
      d.answerProduce(third, 45);
      if (d.kinds.includes('refreshMetadata')) d.described();
      d.after(2000);
      const again = [];
      for (let i = 0; i < 3; i++) {
        const produce = d.out.find((command) => command.kind === 'produce');
        if (produce === undefined) break;
        d.out = [];
        again.push(...produce.batches);
        d.answerProduce(produce);
      }
      expect(again.at(-1)).toEqual(third.batches[0]);
      expect(d.machine.failure).toBeNull();
    },
  );

  it('known to the broker already (DUPLICATE_SEQUENCE_NUMBER) is a success whose offset is not known', () => {
    const d = new MachineDriver(v2).producing();
    d.produced(46, -1);
    d.commit(null);
    d.ended(0, 1);
    expect(d.take('committed').nextOffsets.size).toBe(0);
  });

  it('lost in a transaction loses the epoch: a new identity, never another attempt', () => {
    const d = new MachineDriver(v2).producing();
    d.commit();
    d.lose(d.take('produce'));
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', inDoubt: true, outcome: 'aborted', topic: 'out', partition: 0 });
    expect(d.machine.state).toBe('aborting');
    expect(d.kinds).toEqual(['initProducerId']);
    d.identified(1, 51);
    d.after(2);
    d.identified(2);
    d.abort();
    expect(d.kinds).toContain('ready');
    d.enqueue();
    expect(d.out.at(-1)).toMatchObject({ kind: 'produce', identity: { producerEpoch: 2 }, batches: [{ baseSequence: 0 }] });
  });

  it('out of order without an earlier batch in the way loses the epoch', () => {
    const d = new MachineDriver(v2).producing();
    d.produced(45);
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', inDoubt: false });
    expect(d.machine.state).toBe('aborting');
  });

  it.each([48, 49, 59, 120])('answered with %i loses the epoch', (code) => {
    const d = new MachineDriver(v2).producing();
    d.produced(code);
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', code: 'MILL_TRANSACTION_ABORTED', brokerErrorCode: code });
    expect(d.machine.state).toBe('aborting');
  });

  it.each([47, 90])('answered with %i says that another owner took over', (code) => {
    const d = new MachineDriver(v2).producing();
    d.produced(code);
    expect(d.take('failed').failure).toMatchObject({ severity: 'fenced', code: 'MILL_PRODUCER_FENCED' });
    expect(d.machine.state).toBe('fenced');
    d.init();
    expect(d.kinds).toEqual(['initProducerId']);
  });

  it.each([47, 90])('answered with %i beyond the transaction timeout only says that the coordinator gave the transaction up', (code) => {
    const d = new MachineDriver({ ...v2, transactionTimeoutMs: 3000 }).producing();
    d.now += 9000;
    d.produced(code);
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', code: 'MILL_TRANSACTION_ABORTED' });
    expect(d.kinds).toEqual(['initProducerId']);
  });

  it.each([10, 18])('too large (%i) names the partition', (code) => {
    const d = new MachineDriver(v2).producing();
    d.produced(code);
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', code: 'MILL_RECORD_TOO_LARGE', topic: 'out', partition: 0 });
  });

  it('to a topic that does not exist is tried for a bounded time', () => {
    const d = new MachineDriver({ ...v2, missingTopicTimeoutMs: 2000 }).ready();
    d.enqueue('nowhere', 0);
    d.described(0, 1, 3);
    for (let i = 0; i < 2; i++) {
      d.after(1000);
      expect(d.described(0, 1, 3)).toMatchObject({ refresh: true, topics: ['nowhere'] });
    }
    expect(d.take('failed').failure).toMatchObject({ severity: 'fatal', code: 'MILL_TOPIC_MISSING', topic: 'nowhere' });
  });

  it('is given up after the delivery timeout', () => {
    const d = new MachineDriver({ ...v2, deliveryTimeoutMs: 5000 }).producing();
    d.produced(19);
    d.after(5000);
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', code: 'MILL_TRANSACTION_ABORTED' });
  });

  it('goes to the new leader after NOT_LEADER_OR_FOLLOWER', () => {
    const d = new MachineDriver(v2).ready();
    d.enqueue('out', 1);
    d.described(4, 1);
    expect(d.produced(6)).toMatchObject({ broker: 0 });
    expect(d.described(4, 2)).toMatchObject({ refresh: true });
    d.after(50);
    expect(d.take('produce')).toMatchObject({ broker: 1, batches: [{ baseSequence: 0 }] });
  });
});

describe('an idempotent Produce', () => {
  const idempotent = { transactional: false };

  it('lost on the way is sent again with the same sequence', () => {
    const d = new MachineDriver(idempotent).producing();
    const first = d.take('produce');
    d.lose(first);
    d.described();
    d.after(50);
    expect(d.take('produce').batches).toEqual(first.batches);
  });

  it.each([45, 59])('lost, then unknown to the broker (%i), is reported in doubt and the identity renewed', (code) => {
    const d = new MachineDriver(idempotent).producing();
    d.lose(d.take('produce'));
    d.described();
    d.after(50);
    d.produced(code);
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', inDoubt: true });
    expect(d.identified(0)).toMatchObject({ broker: -1 });
    d.abort();
    expect(d.machine.state).toBe('ready');
  });

  it('is followed by an OffsetCommit with the member’s generation', () => {
    const d = new MachineDriver(idempotent).producing();
    d.produced(0, 5);
    d.commit();
    d.found(2);
    expect(d.step('commitOffsets')).toMatchObject({ identity: null, broker: 2 });
    expect(d.take('committed').nextOffsets).toEqual(new Map([['out-0', 15]]));
  });

  it('keeps its identity when only the offsets were refused', () => {
    const d = new MachineDriver(idempotent).producing();
    d.produced();
    d.commit();
    d.found(2);
    d.step('commitOffsets', 22);
    expect(d.take('failed').failure).toMatchObject({ memberFenced: true });
    expect(d.machine.state).toBe('ready');
    d.abort();
    d.enqueue();
    expect(d.out.at(-1)).toMatchObject({ kind: 'produce', batches: [{ baseSequence: 10 }] });
  });
});

describe('offsets in the transaction', () => {
  it.each([22, 25, 27, 69, 82, 110, 113])('refused with %i abort the epoch and say that the member has to rejoin', (code) => {
    const d = new MachineDriver(v2).producing();
    d.produced();
    d.commit();
    d.found(2);
    d.step('commitOffsets', code);
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', memberFenced: true, outcome: 'aborted', brokerErrorCode: code });
    expect(d.machine.state).toBe('aborting');
  });

  it.each([14, 15, 16])('go to the coordinator as found anew after %i', (code) => {
    const d = new MachineDriver(v2).producing();
    d.produced();
    d.commit();
    d.found(2);
    d.step('commitOffsets', code);
    d.after(20);
    expect(d.found(3)).toMatchObject({ coordinator: 'group', refresh: true });
    expect(d.step('commitOffsets')).toMatchObject({ broker: 3 });
  });

  it('whose answer is lost abort the epoch: a late copy must not reach the next transaction', () => {
    const d = new MachineDriver(v2).producing();
    d.produced();
    d.commit();
    d.found(2);
    d.lose(d.take('commitOffsets'));
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', inDoubt: true, outcome: 'aborted' });
  });

  it.each([12, 28, 24, 42])('refused with %i are fatal, and the transaction is aborted all the same', (code) => {
    const d = new MachineDriver(v2).producing();
    d.produced();
    d.commit();
    d.found(2);
    d.step('commitOffsets', code);
    expect(d.take('failed').failure).toMatchObject({ severity: 'fatal', code: 'MILL_BROKER_ERROR' });
    d.identified(1);
    expect(d.machine.state).toBe('fatal');
  });
});

describe.each([
  ['protocol 1', v1],
  ['protocol 2', v2],
])('EndTxn (%s)', (_, options) => {
  it('without an answer is sent again with the same identity until the answer is definite', () => {
    const d = new MachineDriver(options).ending();
    const first = d.take('endTxn');
    d.lose(first);
    d.after(20);
    d.found(5);
    d.ended(51);
    d.after(4);
    expect(d.ended(0, 1)).toMatchObject({ broker: 5, identity: first.identity });
    if (!options.transactionV2) d.identified(1);
    d.take('committed');
  });

  it.each([47, 90, 48, 49])('in doubt, then answered with %i, leaves the outcome unknown', (code) => {
    const d = new MachineDriver(options).ending();
    d.lose(d.take('endTxn'));
    d.after(20);
    d.found();
    d.ended(code);
    expect(d.take('failed').failure).toMatchObject({ outcome: 'unknown', inDoubt: true, brokerErrorCode: code });
  });

  it.each([48, 49, 120])('answered with %i at once aborts the epoch', (code) => {
    const d = new MachineDriver(options).ending();
    d.ended(code);
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', outcome: 'aborted' });
    expect(d.kinds).toEqual(['initProducerId']);
  });

  it.each([15, 16, 7, -1])('answered with %i may have been carried out, so that fencing afterwards leaves the outcome unknown', (code) => {
    const d = new MachineDriver(options).ending();
    d.ended(code);
    d.after(20);
    if (d.kinds[0] === 'findCoordinator') d.found();
    d.ended(90);
    expect(d.take('failed').failure).toMatchObject({ severity: 'fenced', outcome: 'unknown' });
  });

  it('without a definite answer within the delivery timeout leaves the outcome unknown, and a new identity settles it', () => {
    const d = new MachineDriver({ ...options, deliveryTimeoutMs: 1000 }).ending();
    d.lose(d.take('endTxn'));
    d.after(1000);
    d.lose(d.take('findCoordinator'));
    expect(d.take('failed').failure).toMatchObject({ severity: 'abort', outcome: 'unknown' });
    expect(d.machine.state).toBe('aborting');
  });
});

describe('abort by the caller', () => {
  it('before anything was sent keeps the identity', () => {
    const d = new MachineDriver(v1).ready();
    d.enqueue();
    d.abort();
    expect(d.kinds).toEqual(['refreshMetadata', 'ready']);
    expect(d.machine.identity).toEqual({ producerId: 7n, producerEpoch: 0 });
  });

  it('of an open transaction gets a new identity, which aborts it', () => {
    const d = new MachineDriver(v1).producing();
    d.abort();
    d.take('produce');
    expect(d.machine.state).toBe('aborting');
    d.identified(1);
    d.take('ready');
  });

  it('followed by `init` asks for one identity, not two', () => {
    const d = new MachineDriver(v2).producing();
    d.lose(d.take('produce'));
    d.take('failed');
    const asked = d.take('initProducerId');
    d.init();
    expect(d.kinds).toEqual([]);
    d.answer(asked, { kind: 'identified', errorCode: 0, identity: { producerId: 7n, producerEpoch: 1 } });
    d.take('ready');
  });

  it('makes late answers of the old epoch harmless', () => {
    const d = new MachineDriver(v2).producing();
    const late = d.take('produce');
    d.abort();
    d.answerProduce(late, 90);
    d.identified(1);
    expect(d.machine.state).toBe('ready');
    expect(d.machine.failure).toBeNull();
  });

  it('while EndTxn is under way leaves the outcome unknown', () => {
    const d = new MachineDriver(v2).ending();
    d.abort();
    d.take('endTxn');
    expect(d.take('failed').failure).toMatchObject({ outcome: 'unknown' });
  });
});

describe('an epoch of which a request got lost (protocol 1)', () => {
  const endLost = (): MachineDriver => {
    const d = new MachineDriver(v1).ending();
    d.lose(d.take('endTxn'));
    d.after(20);
    d.found(5);
    d.ended();
    expect([d.machine.state, d.kinds]).toEqual(['renewing', ['initProducerId']]);
    return d;
  };

  // It reached the coordinator after its repetition, and committed the records of the next transaction without its offsets.
  it('is followed by one with a new producer epoch, which a late copy can end nothing of', () => {
    const d = endLost();
    d.identified(1);
    d.take('committed');
    d.enqueue('out', 0, 10);
    d.step('addPartitions');
    expect(d.take('produce')).toMatchObject({ identity: { producerEpoch: 1 }, batches: [{ baseSequence: 0 }] });
  });

  it('is followed by the same when partitions were added twice: a late copy would open a transaction that nobody ends', () => {
    const d = new MachineDriver(v1).ready();
    d.enqueue('out', 0, 10);
    d.described();
    d.lose(d.take('addPartitions'));
    d.after(20);
    d.found();
    d.step('addPartitions');
    d.produced();
    d.commit();
    d.step('addOffsets');
    d.found(2);
    d.step('commitOffsets');
    d.ended();
    expect(d.machine.state).toBe('renewing');
  });

  it('is told as committed when no identity is given for the next one, which fails', () => {
    const d = endLost();
    d.identified(0, 53);
    d.take('committed');
    expect(d.take('failed').failure).toMatchObject({ severity: 'fatal', code: 'MILL_AUTHORIZATION' });
  });

  it('is told as committed when its owner gives up meanwhile, and the identity under way is taken', () => {
    const d = endLost();
    const [asked] = d.out.splice(0);
    d.abort();
    d.take('committed');
    expect(d.kinds).toEqual([]);
    d.answer(asked as { call: number }, { kind: 'identified', errorCode: 0, identity: { producerId: 7n, producerEpoch: 1 } });
    d.take('ready');
    expect(d.machine.identity?.producerEpoch).toBe(1);
  });

  it('leaves the epoch as it is when all was answered', () => {
    const d = new MachineDriver(v1).ending();
    d.ended();
    d.take('committed');
    d.enqueue('out', 0, 10);
    d.step('addPartitions');
    expect(d.take('produce')).toMatchObject({ identity: { producerEpoch: 0 } });
  });
});

it('an EndTxn that names no next identity (protocol 2) is followed by a question for one, before its owner hears', () => {
  const d = new MachineDriver(v2).ending();
  d.ended(0, null);
  d.identified(4);
  d.take('committed');
  expect([d.machine.state, d.machine.identity?.producerEpoch]).toEqual(['ready', 4]);
});

describe('use out of turn', () => {
  it('is refused with MILL_STATE_INVALID', () => {
    const d = new MachineDriver();
    expect(() => d.enqueue()).toThrow(/MILL_STATE_INVALID/);
    d.ready().commit();
    expect(() => d.commit()).toThrow(/MILL_STATE_INVALID/);
  });
});
