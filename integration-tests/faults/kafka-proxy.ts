/**
 * A TCP proxy in front of one broker that understands Kafka's frames: a test looks at each request and response as it passes and decides its fate.
 *
 * Clients stay behind it, because the brokers' addresses in responses are replaced by those of their proxies: an address is a host and a four-byte port, side by
 * side in every version of Metadata, FindCoordinator and DescribeCluster, so the port is overwritten in place.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface ProxiedRequest {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  readonly clientId: string;
  readonly byteLength: number;
}

/** `drop`: the frame vanishes, the connection stays. `cut`: it vanishes and the connection breaks. */
export type Verdict = 'pass' | 'drop' | 'cut';
export type Judge = (request: ProxiedRequest) => Verdict | Promise<Verdict>;

const pass: Judge = () => 'pass';

export class KafkaProxy {
  /** Asked for each request before the broker gets it. */
  onRequest: Judge = pass;
  /** Asked for each response, with its request, before the client gets it. */
  onResponse: Judge = pass;
  private readonly links = new Set<Link>();

  private constructor(
    private readonly server: Server,
    private readonly target: { readonly host: string; readonly port: number },
    addresses: readonly AddressRewrite[],
  ) {
    server.on('connection', (client) => {
      const link = new Link(client, connect(target), addresses, this);
      this.links.add(link);
      link.onEnd = () => this.links.delete(link);
    });
  }

  /** In front of each of a cluster's brokers (`host:port` as they call themselves in their metadata), on free ports of this machine. */
  static async inFrontOf(brokers: readonly string[]): Promise<KafkaProxy[]> {
    const made = await Promise.all(
      brokers.map(async (broker) => {
        const [host = '', port = ''] = broker.split(':');
        const server = createServer();
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        return { server, target: { host, port: Number(port) } };
      }),
    );
    const addresses = made.map(
      ({ server, target }) => new AddressRewrite(target.host, target.port, (server.address() as AddressInfo).port),
    );
    return made.map(({ server, target }) => new KafkaProxy(server, target, addresses));
  }

  get bootstrapServer(): string {
    return `${this.target.host}:${(this.server.address() as AddressInfo).port}`;
  }

  /** Breaks every connection; new ones are taken. */
  cutAll(): void {
    for (const link of this.links) link.cut();
  }

  passAll(): void {
    this.onRequest = pass;
    this.onResponse = pass;
  }

  async close(): Promise<void> {
    this.cutAll();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** One client connection and the one to the broker behind it. */
class Link {
  onEnd: () => void = () => undefined;
  /** Requests the broker has not answered yet; it answers a connection in turn. */
  private readonly unanswered = new Map<number, ProxiedRequest>();
  private ended = false;

  constructor(
    private readonly client: Socket,
    private readonly broker: Socket,
    addresses: readonly AddressRewrite[],
    judges: { readonly onRequest: Judge; readonly onResponse: Judge },
  ) {
    client.setNoDelay(true);
    broker.setNoDelay(true);
    pump(client, async (frame) => {
      const request = readRequest(frame);
      this.unanswered.set(request.correlationId, request);
      if (this.obey(await judges.onRequest(request))) broker.write(frame);
      else this.unanswered.delete(request.correlationId);
    });
    pump(broker, async (frame) => {
      const request = this.unanswered.get(frame.readInt32BE(4));
      if (request === undefined) return;
      this.unanswered.delete(request.correlationId);
      if (!this.obey(await judges.onResponse(request))) return;
      for (const address of addresses) address.rewrite(frame);
      client.write(frame);
    });
    for (const socket of [client, broker]) {
      socket.on('error', () => this.cut());
      socket.on('close', () => this.cut());
    }
  }

  cut(): void {
    if (this.ended) return;
    this.ended = true;
    this.client.destroy();
    this.broker.destroy();
    this.onEnd();
  }

  private obey(verdict: Verdict): boolean {
    if (verdict === 'cut') this.cut();
    return verdict === 'pass' && !this.ended;
  }
}

/** Cuts the stream into frames and hands them over one after the other, the next when the last one is dealt with. A judge that fails breaks the connection. */
function pump(socket: Socket, handle: (frame: Buffer) => Promise<void>): void {
  let rest: Buffer = Buffer.alloc(0);
  let turn: Promise<void> = Promise.resolve();
  socket.on('data', (data: Buffer) => {
    rest = rest.length === 0 ? data : Buffer.concat([rest, data]);
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const frame = rest.subarray(0, 4 + rest.readInt32BE(0));
      rest = rest.subarray(frame.length);
      turn = turn
        .then(() => handle(frame))
        .catch((error: unknown) => {
          socket.destroy(error instanceof Error ? error : new Error(String(error)));
        });
    }
  });
}

function readRequest(frame: Buffer): ProxiedRequest {
  const idLength = frame.readInt16BE(12);
  return {
    apiKey: frame.readInt16BE(4),
    apiVersion: frame.readInt16BE(6),
    correlationId: frame.readInt32BE(8),
    clientId: idLength < 0 ? '' : frame.toString('utf8', 14, 14 + idLength),
    byteLength: frame.length,
  };
}

class AddressRewrite {
  private readonly from: Buffer;

  constructor(
    private readonly host: string,
    port: number,
    private readonly newPort: number,
  ) {
    this.from = Buffer.alloc(host.length + 4);
    this.from.write(host);
    this.from.writeInt32BE(port, host.length);
  }

  rewrite(frame: Buffer): void {
    for (let at = frame.indexOf(this.from); at >= 0; at = frame.indexOf(this.from, at + 1)) {
      frame.writeInt32BE(this.newPort, at + this.host.length);
    }
  }
}
