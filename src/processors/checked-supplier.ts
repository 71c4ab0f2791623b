/** A supplier of processors, checked when the topology is declared rather than when the first task opens. */
import { MillraceError } from '../errors.js';

/** Makes a new processor at each call: every task has its own. */
export type ProcessorSupplier<P> = () => P;

/**
 * @returns the supplier
 * @throws MILL_TOPOLOGY_INVALID when it is no function, what it makes has no `process`, or it gives the same object twice
 */
export function checkedSupplier<S extends ProcessorSupplier<object>>(name: string, supplier: S): S {
  if (typeof supplier !== 'function') throw refusal(name, `needs a function that makes a processor, not ${kindOf(supplier)}`);
  const [one, other]: readonly unknown[] = [supplier(), supplier()];
  if (!isProcessor(one)) throw refusal(name, `has a supplier that gives ${kindOf(one)}; it must give an object with a method \`process\``);
  if (one === other)
    throw refusal(name, 'has a supplier that gives the same object each time; it must make a new one, since every task has its own');
  return supplier;
}

function isProcessor(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'process' in value && typeof value.process === 'function';
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object without it' : typeof value;
}

function refusal(name: string, what: string): MillraceError {
  return new MillraceError('MILL_TOPOLOGY_INVALID', `Processor ${name} ${what}.`, { details: { node: name } });
}
