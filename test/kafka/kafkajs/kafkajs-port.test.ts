import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { MillraceError } from '../../../src/errors.js';
import { createKafkajsPort } from '../../../src/kafka/kafkajs/kafkajs-port.js';
import type { ConnectionConfig, KafkaPort } from '../../../src/kafka/port.js';
import { silentLogger } from '../../../src/observability/logger.js';
import { FakeBroker } from './fake-broker.js';

const member = { groupId: 'g', memberId: 'm', generation: 1, groupInstanceId: null };
const HEARTBEAT = 12;
const okHeartbeat = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0]);

let broker: FakeBroker;
let port: KafkaPort;
const open: KafkaPort[] = [];

function portTo(brokers: readonly string[], config: Partial<ConnectionConfig> = {}): KafkaPort {
  const made = createKafkajsPort({ brokers, clientId: 'test', ...config }, silentLogger);
  open.push(made);
  return made;
}

beforeEach(async () => {
  broker = await new FakeBroker().listen();
  port = portTo([broker.address]);
});

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await broker.close();
});

async function failure(promise: Promise<unknown>): Promise<MillraceError> {
  try {
    await promise;
  } catch (error) {
    return error as MillraceError;
  }
  throw new Error('it did not fail');
}

describe('a listener that accepts and never answers', () => {
  const sockets = new Set<Socket>();
  let quiet: Server;
  let address: string;

  beforeEach(async () => {
    quiet = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      // What is not read is not known to have ended.
      socket.resume();
    });
    await new Promise<void>((resolve) => quiet.listen(0, '127.0.0.1', resolve));
    address = `127.0.0.1:${(quiet.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => quiet.close(resolve));
  });

  const settings: readonly Partial<ConnectionConfig>[] = [
    {},
    { ssl: true },
    { sasl: { mechanism: 'plain', username: 'a', password: 'b' } },
  ];

  it.each(settings)('is given up after the request timeout (%j)', async (config) => {
    const error = await failure(portTo([address], { ...config, requestTimeoutMs: 200 }).connect());
    expect(error.code).toBe('MILL_BROKER_UNREACHABLE');
    await until(() => sockets.size === 0);
  });

  it.each(settings)('is left at once when the port is closed meanwhile (%j)', async (config) => {
    const before = timers();
    const closing = portTo([address], config);
    const connecting = failure(closing.connect());
    await until(() => sockets.size > 0);
    await closing.close();
    expect((await connecting).code).toBe('MILL_BROKER_UNREACHABLE');
    await until(() => sockets.size === 0 && timers() <= before);
  });

  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

  /** Well before kafkajs' own 10 s. */
  async function until(happened: () => boolean): Promise<void> {
    for (let turns = 0; !happened(); turns++) {
      if (turns > 300) throw new Error('it did not happen');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
});

describe('connecting', () => {
  it('reads versions and features', async () => {
    await port.connect();
    expect(port.supports(1)).toBe(13);
    expect(port.supports(68)).toBe(-1);
    expect(port.transactionV2).toBe(true);
  });

  it('counts transaction.version 2 only when it is finalised and its requests are there', async () => {
    broker.transactionVersion = 1;
    await port.connect();
    expect(port.transactionV2).toBe(false);
    broker.transactionVersion = 2;
    broker.ranges.set(28, { min: 0, max: 4 });
    const other = portTo([broker.address]);
    await other.connect();
    expect(other.transactionV2).toBe(false);
  });

  it('names a broker that is too old, and the request', async () => {
    broker.ranges.set(28, { min: 0, max: 2 });
    const error = await failure(port.connect());
    expect(error.code).toBe('MILL_BROKER_TOO_OLD');
    expect(error.message).toContain(`TxnOffsetCommit is needed in versions 3–5, but broker ${broker.address} has versions 0–2.`);
  });

  it('tries one bootstrap address after the other', async () => {
    const other = portTo(['127.0.0.1:1', broker.address]);
    await other.connect();
    expect(other.supports(0)).toBe(12);
  });

  it('refuses an address that is none', () => {
    expect(() => portTo(['kafka:port'])).toThrow('"kafka:port" is not a broker address');
  });
});

describe('a request', () => {
  it('whose connection breaks rejects, and the next one goes over a new connection', async () => {
    await port.connect();
    broker.onRequest = ({ socket }) => socket.destroy();
    expect(await failure(port.heartbeat(1, member))).toMatchObject({ code: 'MILL_TRANSPORT' });
    broker.onRequest = (request) => request.answer(okHeartbeat);
    expect(await port.heartbeat(1, member)).toEqual({ errorCode: 0 });
  });

  it('that is not answered in time rejects, and its connection is never used again', async () => {
    const impatient = portTo([broker.address], { requestTimeoutMs: 200 });
    await impatient.connect();
    let late = (): void => undefined;
    broker.onRequest = (request) => (late = () => request.answer(okHeartbeat));
    const error = await failure(impatient.heartbeat(1, member));
    expect(error.message).toContain('Heartbeat v4 to broker 1');
    late();
    broker.onRequest = (request) => request.answer(Buffer.from([0, 0, 0, 0, 0, 0, 27, 0]));
    expect(await impatient.heartbeat(1, member)).toEqual({ errorCode: 27 });
    const used = broker.received.filter(({ apiKey }) => apiKey === HEARTBEAT).map(({ socket }) => socket);
    expect(new Set(used).size).toBe(2);
  });

  it('of which the answer is cut rejects as a transport error', async () => {
    await port.connect();
    broker.onRequest = (request) => request.answer(Buffer.from([0, 0, 0]));
    expect(await failure(port.heartbeat(1, member))).toMatchObject({ code: 'MILL_TRANSPORT', cause: expect.any(RangeError) as unknown });
  });

  it('to an unknown broker rejects after a fresh look', async () => {
    await port.connect();
    const error = await failure(port.heartbeat(9, member));
    expect(error).toMatchObject({ code: 'MILL_TRANSPORT' });
    expect(error.message).toContain('Broker 9 is not in the cluster’s metadata.');
  });

  it('reaches a broker that moved to another address', async () => {
    await port.connect();
    const moved = await new FakeBroker().listen();
    moved.brokers = [{ nodeId: 1, port: moved.port }];
    moved.onRequest = (request) => request.answer(okHeartbeat);
    const stays = await new FakeBroker().listen();
    broker.brokers = [
      { nodeId: 1, port: broker.port },
      { nodeId: 2, port: stays.port },
    ];
    stays.onRequest = (request) => request.answer(okHeartbeat);
    await port.metadata([], { refresh: true }).catch(() => null);
    await port.metadata('all');
    stays.brokers = [
      { nodeId: 1, port: moved.port },
      { nodeId: 2, port: stays.port },
    ];
    await broker.close();
    expect(await failure(port.heartbeat(1, member))).toMatchObject({ code: 'MILL_TRANSPORT' });
    expect(await port.heartbeat(1, member)).toEqual({ errorCode: 0 });
    await Promise.all([moved.close(), stays.close()]);
  });

  it('without acknowledgement is not waited for', async () => {
    await port.connect();
    const partitions = [{ topic: 't', partition: 0, records: [Buffer.alloc(100)] }];
    const answer = await port.produce(1, { transactionalId: null, acks: 0, timeoutMs: 1000, partitions });
    expect(answer.partitions).toEqual([{ topic: 't', partition: 0, errorCode: 0, baseOffset: -1, logAppendTime: -1, errorMessage: null }]);
  });

  it('of a transaction is sent in the version that the protocol of the transaction asks for', async () => {
    await port.connect();
    broker.onRequest = ({ socket }) => socket.destroy();
    const versionOf = async (send: Promise<unknown>): Promise<number> => {
      await failure(send);
      return broker.received.at(-1)!.version;
    };
    const batch = { acks: -1, timeoutMs: 1000, partitions: [{ topic: 't', partition: 0, records: [Buffer.alloc(10)] }] } as const;
    const identity = { transactionalId: 'x', producerId: 1n, producerEpoch: 0 };
    expect(await versionOf(port.produce(1, { ...batch, transactionalId: 'x' }))).toBe(12);
    expect(await versionOf(port.produce(1, { ...batch, transactionalId: null }))).toBe(11);
    expect(await versionOf(port.txnOffsetCommit(1, { ...identity, ...member, offsets: [] }))).toBe(5);
    expect(await versionOf(port.endTxn(1, { ...identity, commit: true }))).toBe(5);
    expect(await versionOf(port.addPartitionsToTxn(1, { ...identity, partitions: [] }))).toBe(3);

    broker.transactionVersion = 1;
    const older = portTo([broker.address]);
    await older.connect();
    expect(await versionOf(older.produce(1, { ...batch, transactionalId: 'x' }))).toBe(11);
    expect(await versionOf(older.txnOffsetCommit(1, { ...identity, ...member, offsets: [] }))).toBe(4);
    expect(await versionOf(older.endTxn(1, { ...identity, commit: true }))).toBe(4);
  });
});

describe('lanes', () => {
  it('a parked join keeps neither offsets nor transactions nor fetches waiting', async () => {
    await port.connect();
    broker.onRequest = () => undefined;
    const pending = [
      port.joinGroup(1, { ...member, sessionTimeoutMs: 1, rebalanceTimeoutMs: 1, protocolType: 'consumer', protocols: [] }),
      port.leaveGroup(1, member),
      port.fetch(1, { isolation: 'read_committed', maxWaitMs: 100, minBytes: 1, maxBytes: 1, partitions: [] }),
      port.fetch(1, { isolation: 'read_committed', maxWaitMs: 100, minBytes: 1, maxBytes: 1, partitions: [] }),
    ].map((request) => failure(request));
    while (broker.received.filter(({ apiKey }) => [11, 13, 1].includes(apiKey)).length < 4)
      await new Promise((resolve) => setTimeout(resolve, 5));
    const sockets = broker.received.filter(({ apiKey }) => [11, 13, 1].includes(apiKey)).map(({ socket }) => socket);
    expect(new Set(sockets).size).toBe(4);
    await port.close();
    for (const error of await Promise.all(pending)) expect(error).toMatchObject({ code: 'MILL_TRANSPORT' });
  });

  it('open one connection however many requests come at once', async () => {
    await port.connect();
    broker.onRequest = (request) => request.answer(okHeartbeat);
    await Promise.all(Array.from({ length: 20 }, () => port.heartbeat(1, member)));
    const sockets = broker.received.filter(({ apiKey }) => apiKey === HEARTBEAT).map(({ socket }) => socket);
    expect(sockets).toHaveLength(20);
    expect(new Set(sockets).size).toBe(1);
  });

  it('leave no socket open after close', async () => {
    await port.connect();
    broker.onRequest = (request) => request.answer(okHeartbeat);
    await port.heartbeat(1, member);
    expect(broker.sockets.size).toBe(2);
    await port.close();
    while (broker.sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await failure(port.heartbeat(1, member))).toMatchObject({ code: 'MILL_TRANSPORT' });
    expect(await failure(port.findCoordinator('group', 'g'))).toMatchObject({ code: 'MILL_TRANSPORT' });
  });
});
