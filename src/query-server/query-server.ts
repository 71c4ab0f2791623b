/**
 * An HTTP server over an app's stores: answers for what this instance has, and asks the instance that has it for the rest.
 *
 * It uses the app as any user could, so what it may show is what `StreamsApp.query` may show: reads alone, committed unless asked otherwise.
 */
import type { fastify as Fastify, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { StreamsApp } from '../app/streams-app.js';
import { MillraceError } from '../errors.js';
import {
  anyObject,
  anything,
  callback,
  objectWith,
  oneOf,
  requireArgument,
  requireOptions,
  text,
  texts,
} from '../errors/checked-options.js';
import type { ShapeOf } from '../errors/checked-options.js';
import { loggerOption, type Logger } from '../observability/logger.js';
import type { KeyPartitioner } from '../queries/key-partition.js';
import type { ForwardOptions } from './forward.js';
import { forward, hopsHeader, hopsOf, maxHops } from './forward.js';
import { failure, httpFailure } from './http-errors.js';
import type { HttpFailure } from './http-errors.js';
import { toJsonValue } from './json-value.js';
import { Elsewhere, StoreRequests } from './store-requests.js';

/** Options of `createQueryServer`. Times are milliseconds. */
export interface QueryServerOptions {
  /** 0: any that is free. */
  readonly port: number;
  /** Address to listen on. Default `127.0.0.1`: this machine alone. */
  readonly host?: string;
  /** Rows of an answer when the request names no `limit`. Default 100. */
  readonly defaultLimit?: number;
  /** Most rows that a request may ask for. Default 1000. */
  readonly maxLimit?: number;
  /** How long another instance may take to answer a forwarded request. Default 5000. */
  readonly forwardTimeout?: number;
  /** Of the other instances' servers. Default `http`. */
  readonly forwardProtocol?: 'http' | 'https';
  /** Sent with forwarded requests, for credentials between instances. Default none. */
  readonly forwardHeaders?: Readonly<Record<string, string>>;
  /** By store: where keys belong, for topics that are not written with Kafka's default partitioner. */
  readonly partitioners?: Readonly<Record<string, KeyPartitioner<unknown>>>;
  /** Told, at level error, of every request that is answered with 500, with what failed. Default: the app's. */
  readonly logger?: Logger;
  /** Called before every request; false is answered with 401. Default: everybody may read. */
  readonly authorize?: (request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, unknown>>;
  }) => boolean | Promise<boolean>;
}

/** A server that listens. */
export interface QueryServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** `http://host:port`. */
  readonly url: string;
  /** Takes no more requests, waits for those in work and stops. Called again, it waits for the first. */
  close(): Promise<void>;
}

/** What the server needs of the app. */
export type QueryableApp = Pick<
  StreamsApp,
  'logger' | 'state' | 'query' | 'store' | 'stores' | 'metadataForAll' | 'metadataForStore' | 'metadataForKey'
>;

/**
 * Starts a query server for an app. Give the app the option `applicationServer` with the address under which others reach this server.
 *
 * Needs the package `fastify`. It may start before the app: until that runs, queries are answered with 503. Close it before the app.
 *
 * @throws MILL_CONFIG_INVALID, MILL_PACKAGE_MISSING; the error of `listen` when the port is taken
 * @example
 * const server = await createQueryServer(app, { port: 8080, host: '0.0.0.0' });
 * process.once('SIGTERM', () => void server.close().then(() => app.close()));
 */
export async function createQueryServer(app: QueryableApp, options: QueryServerOptions): Promise<QueryServer> {
  requireArgument('createQueryServer: the app', app, appCheck, 'MILL_CONFIG_INVALID');
  checkOptions(options);
  const { host = '127.0.0.1', port } = options;
  const make = await loadFastify();
  const fastify: FastifyInstance = make({
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 500 },
    // An address that can't be decoded has no route, and no error handler either.
    frameworkErrors: (_error, _request, reply) => void sendFailure(reply, notUnderstood(400)),
  });
  const stopping = new AbortController();
  addRoutes(fastify, app, options, stopping.signal);
  await fastify.listen({ host, port });
  const address = fastify.server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= fastify.close().finally(() => stopping.abort());
    return closing;
  };
  return {
    host,
    port: listening,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The factory, since an instance is a thenable that an async function would wait for. */
async function loadFastify(): Promise<typeof Fastify> {
  try {
    return (await import('fastify')).fastify;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new MillraceError('MILL_PACKAGE_MISSING', 'The query server needs the package fastify: npm install fastify.', { cause });
  }
}

function addRoutes(fastify: FastifyInstance, app: QueryableApp, options: QueryServerOptions, stopping: AbortSignal): void {
  const logger = options.logger ?? app.logger;
  const requests = new StoreRequests(app, options);
  const forwarding: ForwardOptions = {
    protocol: options.forwardProtocol ?? 'http',
    timeout: options.forwardTimeout ?? 5000,
    headers: options.forwardHeaders ?? {},
  };
  const get = (path: string, answer: (request: FastifyRequest) => unknown): void => {
    fastify.get(path, async (request, reply) => {
      try {
        return await send(reply, 200, toJsonValue(await answer(request)));
      } catch (error) {
        if (!(error instanceof Elsewhere)) return sendFailure(reply, failureOf(request, error, logger));
        return askOther(request, reply, error, { forwarding, stopping, logger });
      }
    });
  };
  const { authorize } = options;
  if (authorize !== undefined) {
    fastify.addHook('onRequest', async (request, reply) => {
      const { url, headers } = request;
      if (!(await authorize({ url, headers }))) await sendFailure(reply, failure(401, 'UNAUTHORIZED', 'The request is not authorised.'));
    });
  }
  get('/health', () => ({ state: app.state }));
  get('/stores', () => app.stores());
  get('/metadata', () => app.metadataForAll());
  get('/metadata/:store', (request) => app.metadataForStore(storeOf(request)));
  get('/metadata/:store/key', (request) => requests.keyMetadata(storeOf(request), queryOf(request)));
  for (const endpoint of requests.endpoints) {
    get(`/stores/:store/${endpoint.path}`, (request) => requests.answer(endpoint, storeOf(request), queryOf(request)));
  }
  fastify.setNotFoundHandler((_request, reply) => sendFailure(reply, failure(404, 'NOT_FOUND', 'There is no such resource.')));
  fastify.setErrorHandler((error, request, reply) => {
    const { statusCode } = error as { statusCode?: number };
    const isClients = statusCode !== undefined && statusCode >= 400 && statusCode < 500;
    return sendFailure(reply, isClients ? notUnderstood(statusCode) : failureOf(request, error, logger));
  });
}

/** What is not told to the outside is told to the log. Of the request the path alone: headers have credentials, and keys may be anybody's. */
function failureOf(request: FastifyRequest, error: unknown, logger: Logger): HttpFailure {
  const failed = httpFailure(error);
  if (failed.status === 500) {
    const err = error instanceof Error ? error : new Error(String(error));
    logger.error({ err, path: request.url.split('?', 1)[0] }, `a query failed: ${err.message}`);
  }
  return failed;
}

interface Forwarding {
  readonly forwarding: ForwardOptions;
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

async function askOther(
  request: FastifyRequest,
  reply: FastifyReply,
  { server, reason }: Elsewhere,
  { forwarding, stopping, logger }: Forwarding,
): Promise<unknown> {
  const hops = hopsOf(request.headers[hopsHeader]);
  if (hops >= maxHops) {
    return sendFailure(reply, failure(508, 'LOOP', 'The instances do not agree yet on who has the data. Ask again.'));
  }
  if (server === null) return sendFailure(reply, failureOf(request, reason, logger));
  try {
    const answer = await forward(server, request.url, hops, forwarding, stopping);
    return await reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body);
  } catch (error) {
    return sendFailure(reply, failureOf(request, error, logger));
  }
}

function send(reply: FastifyReply, status: number, body: unknown): Promise<unknown> {
  return Promise.resolve(reply.code(status).send(body));
}

function sendFailure(reply: FastifyReply, { status, body }: HttpFailure): Promise<unknown> {
  if (status === 503) reply.header('retry-after', '1');
  return send(reply, status, body);
}

function notUnderstood(status: number): HttpFailure {
  return failure(status, 'BAD_REQUEST', 'The request can’t be understood.');
}

function storeOf(request: FastifyRequest): string {
  return (request.params as { readonly store: string }).store;
}

function queryOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  return request.query as Readonly<Record<string, unknown>>;
}

const appCheck = objectWith('a StreamsApp', 'query', 'store', 'stores', 'metadataForAll', 'metadataForStore', 'metadataForKey');

const shape = {
  port: anything,
  host: text,
  defaultLimit: anything,
  maxLimit: anything,
  forwardTimeout: anything,
  forwardProtocol: oneOf('http', 'https'),
  forwardHeaders: texts,
  partitioners: anyObject,
  logger: loggerOption,
  authorize: callback,
} satisfies ShapeOf<QueryServerOptions>;

/** A misspelt `authorize` would leave the server open: names are held to what there is. */
function checkOptions(options: QueryServerOptions): void {
  requireOptions('createQueryServer', options, shape, 'MILL_CONFIG_INVALID');
  const { port, defaultLimit = 1, maxLimit = 1, forwardTimeout = 1 } = options;
  const faults: string[] = [];
  const check = (name: string, value: number, least: number, most: number): void => {
    if (!Number.isSafeInteger(value) || value < least || value > most)
      faults.push(`${name} must be a whole number from ${least} to ${most}`);
  };
  check('port', port, 0, 65_535);
  check('defaultLimit', defaultLimit, 1, 1_000_000);
  check('maxLimit', maxLimit, 1, 1_000_000);
  check('forwardTimeout', forwardTimeout, 1, 2_147_483_647);
  if (faults.length > 0) {
    throw new MillraceError('MILL_CONFIG_INVALID', `The query server’s options: ${faults.join('; ')}`, { details: { faults } });
  }
}
