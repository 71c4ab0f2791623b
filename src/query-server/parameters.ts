/** The query string of a request, checked. What is wrong, given twice or not known is MILL_QUERY_INVALID. */
import { MillraceError } from '../errors.js';
import { keyFromText } from './key-text.js';

export class Parameters {
  constructor(
    private readonly given: Readonly<Record<string, unknown>>,
    known: readonly string[],
  ) {
    for (const [name, value] of Object.entries(given)) {
      if (!known.includes(name)) throw invalid(name, `is none of ${known.join(', ')}`);
      if (typeof value !== 'string') throw invalid(name, 'must be given once');
    }
  }

  has(name: string): boolean {
    return name in this.given;
  }

  text(name: string): string | undefined {
    return this.given[name] as string | undefined;
  }

  required(name: string): string {
    const text = this.text(name);
    if (text === undefined) throw invalid(name, 'is needed');
    return text;
  }

  key(name: string, serde: string): unknown {
    return keyFromText(this.required(name), serde, name);
  }

  optionalKey(name: string, serde: string): unknown {
    return this.has(name) ? this.key(name, serde) : undefined;
  }

  /** Milliseconds, or another whole number. */
  integer(name: string, least = -Number.MAX_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < least || value > most) throw invalid(name, `must be a whole number from ${least} to ${most}`);
    return value;
  }

  requiredInteger(name: string): number {
    const value = this.integer(name);
    if (value === undefined) throw invalid(name, 'is needed');
    return value;
  }

  flag(name: string): boolean {
    return this.oneOf(name, ['true', 'false']) === 'true';
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const found = allowed.find((value) => value === text);
    if (found === undefined) throw invalid(name, `must be ${allowed.join(' or ')}`);
    return found;
  }
}

function invalid(name: string, what: string): MillraceError {
  return new MillraceError('MILL_QUERY_INVALID', `The parameter ${name} ${what}.`, { details: { parameter: name } });
}
