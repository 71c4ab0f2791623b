/** A supplier of processors, checked when the topology is declared rather than when the first task opens. */
import { MillraceError } from '../errors.js';

/** Makes a new processor at each call: every task has its own. */
export type ProcessorSupplier<P> = () => P;

/**
 * @param methods that what it makes must have
 * @returns the supplier
 * @throws MILL_TOPOLOGY_INVALID when it is no function, fails, what it makes lacks a method, or it gives the same object twice
 */
export function checkedSupplier<S extends ProcessorSupplier<object>>(
  name: string,
  supplier: S,
  methods: readonly string[] = ['process'],
): S {
  if (typeof supplier !== 'function') throw refusal(name, `needs a function that makes a processor, not ${kindOf(supplier)}`);
  const one = made(name, supplier);
  for (const method of methods) {
    if (!has(one, method))
      throw refusal(name, `has a supplier that gives ${kindOf(one)}; it must give an object with a method \`${method}\``);
  }
  if (one === made(name, supplier))
    throw refusal(name, 'has a supplier that gives the same object each time; it must make a new one, since every task has its own');
  return supplier;
}

/** Who passes a function of values where one that makes processors belongs is told so, and not what his function fails on. */
function made(name: string, supplier: ProcessorSupplier<object>): unknown {
  try {
    return supplier();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw refusal(name, `has a supplier that fails when it is called without arguments, to make a processor: ${message}`, error);
  }
}

function has(value: unknown, method: string): boolean {
  return typeof value === 'object' && value !== null && typeof (value as Readonly<Record<string, unknown>>)[method] === 'function';
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object without it' : typeof value;
}

function refusal(name: string, what: string, cause?: unknown): MillraceError {
  return new MillraceError('MILL_TOPOLOGY_INVALID', `Processor ${name} ${what}.`, { cause, details: { node: name } });
}
