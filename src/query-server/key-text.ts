import { MillraceError } from '../errors.js';

/**
 * A key from the text of a URL, by the name of the store's key serde: strings and UUIDs as they are, numbers and booleans as written, bytes in base64 or
 * base64url, all else as JSON.
 *
 * @throws MILL_QUERY_INVALID
 */
export function keyFromText(text: string, serde: string, parameter: string): unknown {
  switch (serde) {
    case 'string':
    case 'uuid':
      return text;
    case 'int32':
    case 'count':
      if (/^-?\d{1,16}$/.test(text)) return Number(text);
      throw invalid(parameter, text, 'a whole number');
    case 'int64':
      if (/^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)) return BigInt(text);
      throw invalid(parameter, text, 'a whole number of 64 bits');
    case 'double':
      if (text.trim() !== '' && !Number.isNaN(Number(text))) return Number(text);
      throw invalid(parameter, text, 'a number');
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true';
      throw invalid(parameter, text, 'true or false');
    case 'bytes':
      if (/^[\w+/-]*={0,2}$/.test(text)) return Buffer.from(text, 'base64');
      throw invalid(parameter, text, 'base64');
    default:
      try {
        return JSON.parse(text) as unknown;
      } catch (cause) {
        throw invalid(parameter, text, `JSON, for the serde ${serde}`, cause);
      }
  }
}

function invalid(parameter: string, text: string, wanted: string, cause?: unknown): MillraceError {
  return new MillraceError('MILL_QUERY_INVALID', `${parameter} must be ${wanted}, not "${text.slice(0, 60)}".`, {
    cause,
    details: { parameter },
  });
}
