/**
 * What the options of the connection to the brokers may be, looked at when the app is made: a wrong address or a forgotten password is told there, and not by a socket or by the inside of the client.
 * No message shows what is in `ssl` or `sasl`.
 */
import type { StreamsConfig } from './config.js';

/** Everything that is wrong with them. */
export function connectionFaults({ bootstrapServers, applicationServer, ssl, sasl }: StreamsConfig): string[] {
  return [...bootstrapFaults(bootstrapServers), ...applicationServerFaults(applicationServer), ...tlsFaults(ssl), ...saslFaults(sasl)];
}

/** As a list, of one text with commas too. */
export function serversOf(servers: unknown): string[] {
  const list: unknown[] = typeof servers === 'string' ? servers.split(',') : Array.isArray(servers) ? servers : [];
  return list.map((server) => String(server).trim()).filter((server) => server !== '');
}

function bootstrapFaults(given: unknown): string[] {
  const servers = serversOf(given);
  if (servers.length === 0) return ['bootstrapServers must name at least one host:port'];
  const wrong = servers.filter((server) => !isAddress(server.replace(/^[A-Z_]+:\/\//, '')));
  return wrong.map((server) => `bootstrapServers must name host:port, with a port from 1 to 65535, which "${server}" is not`);
}

function applicationServerFaults(given: unknown): string[] {
  if (given === undefined || given === null || (typeof given === 'string' && isAddress(given))) return [];
  return ['applicationServer must be host:port, with a port from 1 to 65535, or null'];
}

/** IPv6 hosts stand in brackets. */
function isAddress(text: string): boolean {
  const match = /^(?:\[[0-9a-fA-F:.%\w]+\]|[^\s:/@[\]]+):(\d{1,5})$/.exec(text);
  const port = Number(match?.[1]);
  return port >= 1 && port <= 65_535;
}

/** Options of node:tls whose texts are certificates or keys. */
const pemOptions = ['ca', 'cert', 'key'] as const;

function tlsFaults(ssl: unknown): string[] {
  if (ssl === undefined || typeof ssl === 'boolean') return [];
  if (!isObject(ssl)) return ['ssl must be true, false or an object'];
  return pemOptions
    .filter((option) => [ssl[option]].flat().some((entry) => typeof entry === 'string' && !entry.includes('-----BEGIN ')))
    .map((option) => `ssl.${option} must be the content of a PEM file, as readFileSync gives it, and is a text without one`);
}

type Credentials = Readonly<Record<string, (value: unknown) => string | null>>;

const aText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? null : 'a text that is not empty');
const aFunction = (value: unknown): string | null => (typeof value === 'function' ? null : 'a function');
const login: Credentials = { username: aText, password: aText };

/** What each mechanism of kafkajs needs. */
const mechanisms: ReadonlyMap<string, Credentials> = new Map([
  ['plain', login],
  ['scram-sha-256', login],
  ['scram-sha-512', login],
  ['aws', { authorizationIdentity: aText, accessKeyId: aText, secretAccessKey: aText }],
  ['oauthbearer', { oauthBearerProvider: aFunction }],
]);

function saslFaults(sasl: unknown): string[] {
  if (sasl === undefined) return [];
  if (!isObject(sasl)) return ['sasl must be an object'];
  const { mechanism, authenticationProvider } = sasl;
  const names = [...mechanisms.keys()].join(', ');
  if (typeof mechanism !== 'string' || mechanism === '') return [`sasl.mechanism must be one of ${names}`];
  // With a provider of one's own the mechanism, and what it needs, are its own too.
  if (typeof authenticationProvider === 'function') return [];
  const needed = mechanisms.get(mechanism.toLowerCase());
  if (needed === undefined) return [`sasl.mechanism must be one of ${names}, unless there is an authenticationProvider`];
  return Object.entries(needed).flatMap(([option, check]) => {
    const wanted = check(sasl[option]);
    return wanted === null ? [] : [`sasl.${option} must be ${wanted}, for the mechanism ${mechanism}`];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
