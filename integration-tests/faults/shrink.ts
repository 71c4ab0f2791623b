/**
 * The shortest list that still fails, as far as so many tries find it (delta debugging, ddmin): halves first, then smaller and smaller parts are left away.
 * What is given is known to fail; the rest keeps its order.
 */
export async function shrink<T>(
  failing: readonly T[],
  fails: (candidate: readonly T[]) => Promise<boolean>,
  tries: number,
): Promise<readonly T[]> {
  let known = failing;
  let parts = 2;
  let left = tries;
  while (known.length > 1 && left > 0) {
    const size = Math.ceil(known.length / parts);
    let isShorter = false;
    for (let from = 0; from < known.length && left > 0; from += size) {
      const rest = [...known.slice(0, from), ...known.slice(from + size)];
      left--;
      if (!(await fails(rest))) continue;
      known = rest;
      parts = Math.max(parts - 1, 2);
      isShorter = true;
      break;
    }
    if (isShorter) continue;
    if (size === 1) break;
    parts = Math.min(parts * 2, known.length);
  }
  return known;
}
