import { errorTable, type ErrorCode } from '../errors.js';

/** The message of an error that came as text, without code and cure: its constructor puts them behind it again. */
export function bareMessage(code: ErrorCode, message: string): string {
  const suffix = ` [${code}] ${errorTable[code]}`;
  return message.endsWith(suffix) ? message.slice(0, -suffix.length) : message;
}
