/** A Confluent-compatible schema registry in memory, over HTTP. */
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Schema {
  readonly schema: string;
  readonly schemaType: string;
}

export class FakeRegistry {
  readonly requests: string[] = [];
  private readonly schemas: Schema[] = [];
  private readonly subjects = new Map<string, number[]>();
  private readonly configs = new Map<string, string>();
  private readonly server = createServer((request, response) => {
    void this.answer(request).then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json' });
      response.end(JSON.stringify(body));
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  add(subject: string, schema: object, schemaType = 'AVRO'): number {
    const text = JSON.stringify(schema);
    let index = this.schemas.findIndex((known) => known.schema === text);
    if (index < 0) index = this.schemas.push({ schema: text, schemaType }) - 1;
    const versions = this.subjects.get(subject) ?? [];
    if (!versions.includes(index + 1)) this.subjects.set(subject, [...versions, index + 1]);
    return index + 1;
  }

  versions(subject: string): readonly number[] {
    return this.subjects.get(subject) ?? [];
  }

  private async answer(request: IncomingMessage): Promise<[number, unknown]> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = chunks.length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>);
    const path = (request.url ?? '').split('/').filter(Boolean).map(decodeURIComponent);
    this.requests.push(`${request.method} ${path.join('/')}`);
    const missing: [number, unknown] = [404, { error_code: 40401, message: 'not found' }];
    if (path[0] === 'schemas') {
      const found = this.schemas[Number(path[2]) - 1];
      return found === undefined ? missing : [200, found];
    }
    const subject = path[1] ?? '';
    if (path[0] === 'config') {
      if (request.method === 'PUT') this.configs.set(subject, body['compatibility'] ?? '');
      const level = this.configs.get(subject);
      return level === undefined ? missing : [200, { compatibilityLevel: level }];
    }
    if (request.method === 'POST')
      return [200, { id: this.add(subject, JSON.parse(body['schema'] ?? '{}') as object, body['schemaType'] ?? 'AVRO') }];
    const versions = this.versions(subject);
    const version = path[3] === 'latest' ? versions.length : Number(path[3]);
    const id = versions[version - 1];
    return id === undefined ? missing : [200, { subject, version, id, ...this.schemas[id - 1] }];
  }
}
