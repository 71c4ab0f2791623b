import { MillraceError } from '../errors.js';

/**
 * A state was asked for by a descriptor that its operator does not have. A descriptor is known as an object, not by its name, since its serde and what it lives by are the object's: one that is made
 * anew, under the name of a declared one, may say something else.
 *
 * @param what as in `p: operator state`
 * @param option where descriptors are named, as in `` `states` of the operator ``
 */
export function undeclaredState(
  what: string,
  descriptor: unknown,
  option: string,
  declared: readonly { readonly name: string }[],
  details: Readonly<Record<string, unknown>> = {},
): MillraceError {
  const name = String((descriptor as { readonly name?: unknown } | null | undefined)?.name);
  if (declared.some((known) => known.name === name)) {
    return new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `${what} ${name} is declared with another descriptor of that name: make the descriptor once, name it in the ${option}, and ask with the same object.`,
      { details: { ...details, state: name } },
    );
  }
  const names = declared.map((known) => known.name).join(', ') || 'none';
  return new MillraceError(
    'MILL_TOPOLOGY_UNKNOWN_STORE',
    `${what} ${name} is not declared: name its descriptor in the ${option} (declared are: ${names}).`,
    { details: { ...details, state: name } },
  );
}
