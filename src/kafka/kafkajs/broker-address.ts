/** `host:port`, IPv6 hosts in brackets; the port defaults to 9092. */
import { MillraceError } from '../../errors.js';
import type { BrokerAddress } from './broker-connection.js';

export function parseBrokerAddress(text: string): BrokerAddress {
  const match = /^(?:[A-Z_]+:\/\/)?(?:\[([^\]]+)\]|([^:[\]\s]+))(?::(\d{1,5}))?$/.exec(text.trim());
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? 9092);
  if (host === undefined || port === 0 || port > 65_535) {
    throw new MillraceError('MILL_CONFIG_INVALID', `"${text}" is not a broker address: expected host:port.`);
  }
  return { host, port };
}
