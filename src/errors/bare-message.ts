import { errorTable, MillraceError, type ErrorCode } from '../errors.js';

/** What an error says, to stand in the message of another with the code `within`, which has the same code and cure behind it. */
export function reasonOf(error: unknown, within: ErrorCode): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof MillraceError && error.code === within ? bareMessage(within, error.message) : error.message;
}

/** The message of an error that came as text, without code and cure: its constructor puts them behind it again. */
export function bareMessage(code: ErrorCode, message: string): string {
  const suffix = ` [${code}] ${errorTable[code]}`;
  return message.endsWith(suffix) ? message.slice(0, -suffix.length) : message;
}
