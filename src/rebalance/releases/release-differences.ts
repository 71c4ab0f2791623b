/**
 * What keeps two releases out of one group: changes after which records or state would be lost, however slowly instances are exchanged. Pure. It has a direction: `joining` is to read what is in
 * the repartition topics of `running`, not the other way round, so an upgrade may be accepted whose way back is refused.
 */
import type { Release, StoreShape, SubTopologyShape } from './release.js';

/** In words; none when both may share a group. */
export function releaseDifferences(running: Release, joining: Release): string[] {
  return [...changedStores(running, joining), ...droppedTopics(running, joining), ...renamedStores(running, joining)];
}

/** The rows in its changelog would be read as what they are not, or not be found. */
function changedStores(running: Release, joining: Release): string[] {
  const now = storesOf(joining);
  return [...storesOf(running).values()].flatMap((before) => {
    const after = now.get(before.name);
    if (after === undefined) return [];
    if (after.format !== before.format) return [`store ${before.name} is of kind ${before.format} and would become ${after.format}`];
    if (after.changelog === before.changelog) return [];
    return [`store ${before.name} has ${changelogName(before)} and would have ${changelogName(after)}`];
  });
}

/** What is in a repartition topic at the change belongs to results that go on: it would never be counted. Results that no name tells of may go on. */
function droppedTopics(running: Release, joining: Release): string[] {
  const read = new Set(joining.shapes.flatMap(({ internal }) => internal));
  const goesOn = new Set(joining.shapes.flatMap(({ stores, feeds, sinks }) => [...stores.map(({ name }) => name), ...feeds, ...sinks]));
  const chosenAnew = joining.shapes.some(
    (shape) => choosesSinks(shape) && !running.shapes.some((one) => choosesSinks(one) && isSameInput(one, shape)),
  );
  const lossOf = (shape: SubTopologyShape): string | null => {
    const results = [...shape.stores.map(({ name }) => name), ...shape.feeds, ...shape.sinks].filter((name) => goesOn.has(name));
    if (results.length > 0) return `though ${results.join(', ')}, which it leads to, goes on`;
    if (choosesSinks(shape)) return 'though what it leads to may go on: a function chooses the topic';
    if (shape.unnamed.length > 0) return 'though what it leads to may go on: steps of the app that end without a sink or a store';
    if (shape.sinks.length > 0 && chosenAnew)
      return `though ${shape.sinks.join(', ')}, which it leads to, may go on: a function chooses a topic now`;
    return null;
  };
  return running.shapes.flatMap((shape) => {
    const loss = lossOf(shape);
    const dropped = loss === null ? [] : shape.internal.filter((topic) => !read.has(topic));
    return dropped.map((topic) => `the internal topic ${topic} would not be read any more, ${loss}`);
  });
}

function choosesSinks({ unnamed }: SubTopologyShape): boolean {
  return unnamed.includes('sinks');
}

/** Generated names count operators, so an operator more gives a store another name: it would begin empty, unnoticed. */
function renamedStores(running: Release, joining: Release): string[] {
  const [before, after] = [storesOf(running), storesOf(joining)];
  return running.shapes.flatMap((shape) =>
    shape.stores.flatMap((store) => {
      if (after.has(store.name) || !isGenerated(store.name)) return [];
      const successor = joining.shapes
        .filter((other) => isSameInput(shape, other))
        .flatMap(({ stores }) => stores)
        .find(({ name, format }) => isGenerated(name) && !before.has(name) && format === store.format);
      if (successor === undefined) return [];
      return [
        `store ${store.name} would be ${successor.name}, and empty: generated names count operators, so give the operator the name it has now (storeName)`,
      ];
    }),
  );
}

function isSameInput(one: SubTopologyShape, other: SubTopologyShape): boolean {
  return one.topics.some((topic) => other.topics.includes(topic)) || (one.internal.some(isGenerated) && other.internal.some(isGenerated));
}

function isGenerated(name: string): boolean {
  return /-\d{10}(-|$)/.test(name);
}

function storesOf({ shapes }: Release): ReadonlyMap<string, StoreShape> {
  return new Map(shapes.flatMap(({ stores }) => stores.map((store) => [store.name, store])));
}

function changelogName({ changelog }: StoreShape): string {
  return changelog === null ? 'no changelog' : `the changelog ${changelog}`;
}
