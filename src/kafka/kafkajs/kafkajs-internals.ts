/**
 * What we touch inside kafkajs 2.2.4 (pinned), described as types, and the one place that reaches for it.
 *
 * kafkajs opens sockets (TCP, TLS), authenticates (SASL, with re-authentication) and matches answers to requests by correlation id;
 * everything above that is ours. Its Cluster is handed to a partition assigner's constructor, a public hook that connects nothing.
 */
import { isIP, connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { Kafka, logLevel } from 'kafkajs';
import type { ISocketFactoryArgs, KafkaConfig, LogEntry } from 'kafkajs';

import type { Logger } from '../../observability/logger.js';
import type { ConnectionConfig } from '../port.js';

export interface KafkajsAnswer {
  readonly size: number;
  /** What follows the correlation id; null when no answer was expected. */
  readonly payload: Buffer | null;
}

export interface KafkajsRequestQueue {
  readonly pending: readonly unknown[];
  push(request: {
    readonly entry: {
      readonly apiKey: number;
      readonly apiName: string;
      readonly apiVersion: number;
      readonly correlationId: number;
      readonly resolve: (answer: KafkajsAnswer) => void;
      readonly reject: (error: Error) => void;
    };
    readonly expectResponse: boolean;
    /** Milliseconds; the configured request timeout when that is longer. */
    readonly requestTimeout: number;
    readonly sendRequest: () => void;
  }): void;
  rejectAll(error: Error): void;
  scheduleCheckPendingRequests(): void;
}

export interface KafkajsConnection {
  readonly requestQueue: KafkajsRequestQueue;
  readonly sasl: object | null;
  readonly socket?: Socket;
  isConnected(): boolean;
  isAuthenticated(): boolean;
  authenticate(): Promise<void>;
  nextCorrelationId(): number;
  disconnect(): Promise<unknown>;
}

interface KafkajsConnectionPool {
  readonly pool: readonly KafkajsConnection[];
}

interface KafkajsCluster {
  readonly rootLogger: object;
  readonly connectionPoolBuilder: { build(address: { host: string; port: number }): Promise<KafkajsConnectionPool> };
  readonly brokerPool: { createBroker(options: { connectionPool: KafkajsConnectionPool; logger: object }): { connect(): Promise<void> } };
}

/** Makes connections to any address with the TLS and SASL settings of one configuration. */
export interface KafkajsConnector {
  /** A connection that is not open yet, and how to open and authenticate it. */
  prepare(host: string, port: number): Promise<{ readonly connection: KafkajsConnection; open(): Promise<void> }>;
}

export function createKafkajsConnector(config: ConnectionConfig, logger: Logger): KafkajsConnector {
  const cluster = clusterOf(
    new Kafka({
      brokers: [...config.brokers],
      clientId: config.clientId,
      ...(config.ssl === undefined ? {} : { ssl: config.ssl }),
      // A copy: kafkajs keeps its authentication provider on the object.
      ...(config.sasl === undefined ? {} : { sasl: { ...config.sasl } as NonNullable<KafkaConfig['sasl']> }),
      connectionTimeout: Math.min(config.connectionTimeoutMs ?? 10_000, config.requestTimeoutMs ?? 30_000),
      requestTimeout: config.requestTimeoutMs ?? 30_000,
      retry: { retries: 0 },
      socketFactory: createSocket,
      logLevel: logLevel.WARN,
      logCreator: () => (entry) => log(logger, entry),
    }),
  );
  return {
    async prepare(host, port) {
      const connectionPool = await cluster.connectionPoolBuilder.build({ host, port });
      const connection = connectionPool.pool[0];
      if (connection === undefined) throw new TypeError('kafkajs made a connection pool without a connection');
      stopIdleTimer(connection.requestQueue);
      const broker = cluster.brokerPool.createBroker({ connectionPool, logger: cluster.rootLogger });
      return { connection, open: () => broker.connect() };
    },
  };
}

function clusterOf(kafka: Kafka): KafkajsCluster {
  let cluster: unknown;
  kafka.consumer({
    groupId: '_',
    partitionAssigners: [
      (options) => {
        cluster = options.cluster;
        return { name: '_', version: 0, assign: () => Promise.resolve([]), protocol: () => ({ name: '_', metadata: Buffer.alloc(0) }) };
      },
    ],
  });
  return cluster as KafkajsCluster;
}

/**
 * kafkajs re-arms a timer for a negative time after every answer, which wakes the process a thousand times a second and
 * warns on newer Node versions. The timer is needed only while requests wait in the queue.
 */
function stopIdleTimer(queue: KafkajsRequestQueue): void {
  const schedule = queue.scheduleCheckPendingRequests.bind(queue);
  queue.scheduleCheckPendingRequests = () => {
    if (queue.pending.length > 0) schedule();
  };
}

/** As kafkajs' own, and without Nagle's delay: an epoch is a chain of small requests. */
function createSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
  // kafkajs hands over `true` or the options, whatever its types say.
  const tls = ssl as ISocketFactoryArgs['ssl'] | boolean | null;
  const socket =
    tls === null || tls === false
      ? connectTcp({ host, port }, onConnect)
      : connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...(tls === true ? {} : tls) }, onConnect);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  return socket;
}

/** Connection errors reach the caller as rejections, so their log line is for debugging only. */
function log(logger: Logger, entry: LogEntry): void {
  const fields = { component: `kafkajs.${entry.namespace}`, broker: entry.log['broker'] as unknown };
  if (entry.level <= logLevel.WARN && entry.namespace !== 'Connection') logger.warn(fields, entry.log.message);
  else logger.debug(fields, entry.log.message);
}
