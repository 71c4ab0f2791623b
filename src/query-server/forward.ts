/** Asks the instance that has the data, on behalf of a client, and hands its answer on as it is. */
import { MillraceError } from '../errors.js';

/** Counts how often a request was forwarded: instances with different views of the group must not send it round for ever. */
export const hopsHeader = 'x-millrace-hops';
export const maxHops = 2;

export interface ForwardOptions {
  readonly protocol: 'http' | 'https';
  /** Milliseconds. */
  readonly timeout: number;
  /** Sent along, for instance credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ForwardedAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * @param server `host:port`
 * @param url path and query of the request
 * @throws MILL_QUERY_FORWARD
 */
export async function forward(
  server: string,
  url: string,
  hops: number,
  options: ForwardOptions,
  stopping: AbortSignal,
): Promise<ForwardedAnswer> {
  try {
    const response = await fetch(`${options.protocol}://${server}${url}`, {
      headers: { ...options.headers, [hopsHeader]: String(hops + 1) },
      redirect: 'error',
      signal: AbortSignal.any([stopping, AbortSignal.timeout(options.timeout)]),
    });
    return { status: response.status, body: await response.text() };
  } catch (cause) {
    throw new MillraceError('MILL_QUERY_FORWARD', `The instance ${server}, which has the data, did not answer.`, {
      cause,
      details: { server },
    });
  }
}

/** Of a request; NaN is refused like too many. */
export function hopsOf(header: string | readonly string[] | undefined): number {
  if (header === undefined) return 0;
  const hops = Number(header);
  return Number.isSafeInteger(hops) && hops >= 0 ? hops : maxHops;
}
