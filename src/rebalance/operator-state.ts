/**
 * How operator state (state of an instance, not of a key) is given out when the number of instances changes. Pure: lists in, lists out; what the elements
 * are does not matter. As in Flink, nobody may rely on which instance gets which element.
 */

/** List state: all elements once, in lists whose lengths differ by at most one, longer ones first. An unchanged number of instances keeps each list. */
export function splitEvenly<E>(old: readonly (readonly E[])[], instances: number): E[][] {
  if (old.length === instances) return old.map((list) => list.slice());
  const all = old.flat();
  const base = Math.floor(all.length / instances);
  const longer = all.length % instances;
  let at = 0;
  return Array.from({ length: instances }, (_, instance) => {
    const from = at;
    at += base + (instance < longer ? 1 : 0);
    return all.slice(from, at);
  });
}

/** Union list state: every instance gets everything and chooses. */
export function uniteForAll<E>(old: readonly (readonly E[])[], instances: number): E[][] {
  const all = old.flat();
  return Array.from({ length: instances }, () => all.slice());
}

/** Broadcast state: all copies are equal, so each new instance takes one of the old ones. */
export function copyBroadcast<E>(old: readonly E[], instances: number): E[] {
  if (old.length === 0) return [];
  return Array.from({ length: instances }, (_, instance) => old[instance % old.length] as E);
}
