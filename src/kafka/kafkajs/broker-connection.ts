/**
 * One socket to one broker: sends any request, resolves with the decoded answer.
 *
 * The broker works through the requests of a socket one after the other, so whatever may be parked there (long polls, joins) has a
 * connection of its own (see `connection-lanes.ts`). A connection that broke, timed out or answered nonsense is closed for good; a
 * new one takes its place. Every failure of that kind is a KafkaTransportError: the request may or may not have been carried out.
 */
import { KafkaTransportError, MillraceError } from '../../errors.js';
import { apiVersions } from '../protocol/api-versions.js';
import type { Api, BrokerVersions } from '../protocol/api.js';
import { negotiate } from '../protocol/api.js';
import { decodeResponse, encodeRequest } from '../protocol/frame.js';
import { neededApis } from '../protocol/needed-apis.js';
import { ErrorCodes, errorName } from '../error-codes.js';
import { inTime } from './opened-in-time.js';
import type { KafkajsConnection, KafkajsConnector } from './kafkajs-internals.js';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

export interface SendOptions {
  /** Narrows our version range for this request. */
  readonly maxVersion?: number;
  /** Milliseconds beyond the request timeout that the broker may park the request. */
  readonly parkedMs?: number;
}

const SOFTWARE = { softwareName: 'millrace', softwareVersion: '0' };

export class BrokerConnection {
  /** Requests sent and not answered. */
  inFlight = 0;
  private brokerVersions: BrokerVersions = new Map([[apiVersions.key, { min: 0, max: 3 }]]);
  private features: ReadonlyMap<string, number> = new Map();

  private constructor(
    readonly address: BrokerAddress,
    readonly name: string,
    private readonly connection: KafkajsConnection,
    private readonly clientId: string,
    private readonly requestTimeoutMs: number,
  ) {}

  /**
   * Connects, authenticates, reads ApiVersions, all within the request timeout; `signal` ends it at once. Rejects with KafkaTransportError, MILL_AUTHORIZATION or
   * MILL_BROKER_TOO_OLD.
   */
  static async open(
    connector: KafkajsConnector,
    address: BrokerAddress,
    options: { readonly nodeId: number | null; readonly clientId: string; readonly requestTimeoutMs: number; readonly signal: AbortSignal },
  ): Promise<BrokerConnection> {
    const where = `${address.host}:${address.port}`;
    const name = options.nodeId === null ? where : `${options.nodeId} (${where})`;
    const prepared = await connector.prepare(address.host, address.port);
    const made = new BrokerConnection(address, name, prepared.connection, options.clientId, options.requestTimeoutMs);
    const opened = async (): Promise<void> => {
      options.signal.throwIfAborted();
      await prepared.open();
      await made.readVersions();
      for (const api of neededApis) negotiate(api, made.brokerVersions, name);
    };
    const opening = opened();
    try {
      await inTime(opening, options.requestTimeoutMs, options.signal);
    } catch (error) {
      const close = (): void => made.close('it could not be opened');
      close();
      // Given up, it may have got a socket all the same.
      opening.then(close, () => undefined);
      throw openError(name, error);
    }
    return made;
  }

  get isOpen(): boolean {
    return this.connection.isConnected();
  }

  get versions(): BrokerVersions {
    return this.brokerVersions;
  }

  /** Feature → level finalised by the cluster, as this broker knows it. */
  get finalizedFeatures(): ReadonlyMap<string, number> {
    return this.features;
  }

  async send<Request, Response>(api: Api<Request, Response>, request: Request, options: SendOptions = {}): Promise<Response> {
    const version = negotiate(api, this.brokerVersions, this.name, options.maxVersion);
    const payload = await this.exchange(api, version, request, options.parkedMs ?? 0, true);
    try {
      return decodeResponse(api, version, payload ?? Buffer.alloc(0));
    } catch (error) {
      this.close('an answer could not be decoded');
      throw new KafkaTransportError(`${api.name} v${version}: the answer of broker ${this.name} could not be decoded.`, { cause: error });
    }
  }

  /** For requests that the broker does not answer (Produce with acks 0). */
  async sendOneWay<Request>(api: Api<Request, unknown>, request: Request, options: SendOptions = {}): Promise<void> {
    await this.exchange(api, negotiate(api, this.brokerVersions, this.name, options.maxVersion), request, 0, false);
  }

  /** Ends the socket at once; requests in flight reject. */
  close(reason: string): void {
    this.connection.requestQueue.rejectAll(new Error(`connection closed: ${reason}`));
    const { socket } = this.connection;
    // Of one that is still connecting, or shaking hands, kafkajs takes the timer away only when it hears of an error.
    const fault = !this.connection.isConnected() ? new Error(`connection closed: ${reason}`) : undefined;
    const destroy = (): void => void socket?.destroy(fault);
    // kafkajs' own state and timers first; it waits for requests in flight, of which there are none any more.
    this.connection.disconnect().then(destroy, destroy);
  }

  private async exchange<Request>(
    api: Api<Request, unknown>,
    version: number,
    request: Request,
    parkedMs: number,
    expectResponse: boolean,
  ): Promise<Buffer | null> {
    const { connection } = this;
    this.inFlight++;
    try {
      if (connection.sasl !== null && !connection.isAuthenticated()) await connection.authenticate();
      const { socket } = connection;
      if (socket === undefined || !connection.isConnected()) throw new Error('not connected');
      const correlationId = connection.nextCorrelationId();
      const { parts } = encodeRequest(api, version, correlationId, this.clientId, request);
      return await new Promise<Buffer | null>((resolve, reject) => {
        connection.requestQueue.push({
          entry: {
            apiKey: api.key,
            apiName: api.name,
            apiVersion: version,
            correlationId,
            resolve: ({ payload }) => resolve(payload),
            reject,
          },
          expectResponse,
          requestTimeout: parkedMs + this.requestTimeoutMs,
          sendRequest: () => {
            socket.cork();
            for (const part of parts) socket.write(part);
            socket.uncork();
          },
        });
      });
    } catch (error) {
      // After a timeout the answer may still come, and the broker may still be at work on it: never reuse such a connection.
      if (connection.isConnected()) this.close('a request failed');
      throw new KafkaTransportError(`${api.name} v${version} to broker ${this.name}: ${messageOf(error)}.`, {
        cause: error,
        details: { api: api.name, broker: this.name },
      });
    } finally {
      this.inFlight--;
    }
  }

  private async readVersions(): Promise<void> {
    let answer = await this.send(apiVersions, SOFTWARE);
    if (answer.errorCode === ErrorCodes.UNSUPPORTED_VERSION) answer = await this.send(apiVersions, SOFTWARE, { maxVersion: 0 });
    if (answer.errorCode !== 0) throw new KafkaTransportError(`ApiVersions to broker ${this.name}: ${errorName(answer.errorCode)}.`);
    this.brokerVersions = answer.versions;
    this.features = answer.finalizedFeatures;
  }
}

function openError(name: string, error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  if (error instanceof Error && error.name === 'KafkaJSSASLAuthenticationError') {
    return new MillraceError('MILL_AUTHORIZATION', `Broker ${name} refused the SASL login: ${error.message}.`, { cause: error });
  }
  return new KafkaTransportError(`Connecting to broker ${name}: ${messageOf(error)}.`, { cause: error });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
