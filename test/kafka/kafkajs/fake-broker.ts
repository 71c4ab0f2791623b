/** A broker of which the test writes the answers: a TCP server that understands Kafka's frames, and no more. */
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

import { neededApis } from '../../../src/kafka/protocol/needed-apis.js';
import { WireWriter } from '../../../src/kafka/protocol/wire-writer.js';

export interface ReceivedRequest {
  readonly apiKey: number;
  readonly version: number;
  readonly correlationId: number;
  readonly socket: Socket;
  answer(body: Buffer): void;
}

export class FakeBroker {
  readonly received: ReceivedRequest[] = [];
  readonly sockets = new Set<Socket>();
  /** Overrides of the version ranges that it claims, by api key. */
  readonly ranges = new Map<number, { min: number; max: number } | null>();
  transactionVersion = 2;
  /** What it does with requests other than ApiVersions and Metadata; default: no answer. */
  onRequest: (request: ReceivedRequest) => void = () => undefined;
  /** Brokers that its Metadata answers tell of; default: itself as number 1. */
  brokers: { nodeId: number; port: number }[] = [];
  private server: Server | null = null;

  get port(): number {
    return (this.server?.address() as AddressInfo).port;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async listen(port = 0): Promise<this> {
    const server = createServer((socket) => this.serve(socket));
    this.server = server;
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    if (this.brokers.length === 0) this.brokers = [{ nodeId: 1, port: this.port }];
    return this;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    let bytes = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('data', (data) => {
      bytes = Buffer.concat([bytes, data]);
      while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)) {
        const size = bytes.readInt32BE(0);
        this.receive(socket, bytes.subarray(4, 4 + size));
        bytes = bytes.subarray(4 + size);
      }
    });
  }

  private receive(socket: Socket, frame: Buffer): void {
    const [apiKey, version, correlationId] = [frame.readInt16BE(0), frame.readInt16BE(2), frame.readInt32BE(4)];
    const answer = (body: Buffer): void => {
      const header = Buffer.alloc(8);
      header.writeInt32BE(4 + body.length, 0);
      header.writeInt32BE(correlationId, 4);
      socket.write(Buffer.concat([header, body]));
    };
    const request = { apiKey, version, correlationId, socket, answer };
    this.received.push(request);
    if (apiKey === 18) answer(this.versions(version));
    else if (apiKey === 3) answer(this.metadata());
    else this.onRequest(request);
  }

  private versions(version: number): Buffer {
    const out = new WireWriter(version >= 3);
    out.writeInt16(0);
    const known = [
      ...neededApis.map(({ key, minVersion, maxVersion }) => ({ key, min: minVersion, max: maxVersion })),
      { key: 18, min: 0, max: 3 },
    ];
    const ranges = known.flatMap(({ key, ...range }) => {
      const claimed = this.ranges.has(key) ? this.ranges.get(key) : range;
      return claimed ? [{ key, ...claimed }] : [];
    });
    out.writeArray(ranges, ({ key, min, max }) => {
      out.writeInt16(key);
      out.writeInt16(min);
      out.writeInt16(max);
      out.endStruct();
    });
    if (version >= 1) out.writeInt32(0);
    if (version < 3) return out.copy();
    const features = new WireWriter(true);
    features.writeArray(['transaction.version'], (name) => {
      features.writeString(name);
      features.writeInt16(this.transactionVersion);
      features.writeInt16(this.transactionVersion);
      features.endStruct();
    });
    out.writeUnsignedVarint(1);
    out.writeUnsignedVarint(2);
    out.writeUnsignedVarint(features.length);
    out.writeBytes(features.view());
    return out.copy();
  }

  private metadata(): Buffer {
    const out = new WireWriter(true);
    out.endStruct();
    out.writeInt32(0);
    out.writeArray(this.brokers, ({ nodeId, port }) => {
      out.writeInt32(nodeId);
      out.writeString('127.0.0.1');
      out.writeInt32(port);
      out.writeNullableString(null);
      out.endStruct();
    });
    out.writeNullableString('fake');
    out.writeInt32(1);
    out.writeArray([], () => undefined);
    out.endStruct();
    return out.copy();
  }
}
