/** `millrace/query-server`: an HTTP server over an app's stores. Needs the package `fastify`. */
export { createQueryServer } from './query-server.js';
export type { QueryableApp, QueryServer, QueryServerOptions } from './query-server.js';
