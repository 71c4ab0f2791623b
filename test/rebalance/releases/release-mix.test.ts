import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rangeAssignor, stickyAssignor } from '../../../src/rebalance/built-in-assignors.js';
import { applicationParts } from '../../../src/rebalance/releases/application-parts.js';
import type { SubTopologyShape } from '../../../src/rebalance/releases/release.js';
import { formatTaskId } from '../../../src/rebalance/task-id.js';
import { releaseNames, someRelease, topicPartitions, type ReleaseName } from './some-releases.js';
import { ReleasesGroup } from './releases-group.js';

const releases = new Map(releaseNames.map((name) => [name, someRelease(name)]));
const release = (name: ReleaseName) => releases.get(name)!;

/** A group of members of the first release, at rest. */
function groupOf(...names: readonly ReleaseName[]): ReleasesGroup {
  const group = new ReleasesGroup();
  names.forEach((name, index) => group.join(`old-${index}`, release(name)));
  group.settle();
  return group;
}

function readersOf(group: ReleasesGroup, topic: string): string[] {
  return [...Array(topicPartitions[topic]).keys()].map((partition) => group.readers().get(`${topic}-${partition}`)?.join('+') ?? 'nobody');
}

const loads = (group: ReleasesGroup): number[] => group.members.map(({ owned }) => owned.length).sort();

describe('members of several releases in one group', () => {
  it('share all tasks when the releases are the same to the group', () => {
    const group = groupOf('first', 'first');
    group.join('new', release('withStatelessSteps'));
    group.settle();
    expect(loads(group)).toEqual([2, 2, 3]);
  });

  it('speak of the same tasks by their own numbers', () => {
    const group = groupOf('first');
    group.join('new', release('withPartInFront'));
    group.settle();
    // 4 of orders, 3 of visits, 2 of returns.
    expect(loads(group)).toEqual([4, 5]);
    expect(readersOf(group, 'returns')).toEqual(['new', 'new']);
    expect(group.member('new').owned.some(({ subTopology }) => subTopology === 2)).toBe(true);
    expect(group.member('old-0').owned.every(({ subTopology }) => subTopology < 2)).toBe(true);
  });

  it('are named to each other with the numbers of who asks', () => {
    const group = groupOf('first');
    group.join('new', release('withPartInFront'));
    group.settle();
    const seenBy = (id: string, of: string): string[] =>
      group
        .member(id)
        .assignment!.members.find(({ memberId }) => memberId === of)!
        .activeTasks.map(formatTaskId);
    const old = group.member('old-0').owned;
    expect(seenBy('old-0', 'old-0').sort()).toEqual(old.map(formatTaskId).sort());
    expect(seenBy('new', 'old-0').sort()).toEqual(old.map(({ subTopology, partition }) => `${subTopology + 1}_${partition}`).sort());
    // It knows nothing of the part that was added.
    expect(seenBy('old-0', 'new').length).toBe(group.member('new').owned.length - 2);
  });

  it('begin an added part with the first member that has it, and end a removed one with the last', () => {
    const group = groupOf('first', 'first');
    group.join('new-0', release('withoutVisits'));
    group.settle();
    expect(readersOf(group, 'visits').every((reader) => reader.startsWith('old'))).toBe(true);
    group.leave('old-0');
    group.settle();
    expect(readersOf(group, 'visits')).toEqual(['old-1', 'old-1', 'old-1']);
    group.leave('old-1');
    group.settle();
    expect(readersOf(group, 'visits')).toEqual(['nobody', 'nobody', 'nobody']);
    expect(readersOf(group, 'orders')).toEqual(['new-0', 'new-0', 'new-0', 'new-0']);
  });

  it('change over partition by partition to a version that adds a store, and don’t go back while there is a member with it', () => {
    const group = groupOf('first', 'first');
    group.join('new-0', release('withSecondStore'));
    group.settle();
    expect(loads(group)).toEqual([2, 2, 3]);
    const changed = readersOf(group, 'orders').flatMap((reader, partition) => (reader === 'new-0' ? [partition] : []));
    expect(changed.length).toBeGreaterThan(0);
    // Another old one, and the new one is killed while a second new one is there: what has changed over stays with the new release.
    group.join('old-2', release('first'));
    group.join('new-1', release('withSecondStore'));
    group.settle();
    group.leave('new-0');
    group.settle();
    const readers = readersOf(group, 'orders');
    for (const partition of changed) expect(readers[partition]).toBe('new-1');
    // The last member with it goes: the old release does all of it.
    group.leave('new-1');
    group.settle();
    expect(readersOf(group, 'orders')).not.toContain('nobody');
  });

  it('keep the running version of a part that was cut in another way until no member has it, whoever is in the majority', () => {
    const group = groupOf('first', 'first', 'first');
    for (const id of ['new-0', 'new-1', 'new-2', 'new-3']) group.join(id, release('merged'));
    group.settle();
    expect(readersOf(group, 'orders').every((reader) => reader.startsWith('old'))).toBe(true);
    group.leave('old-0');
    group.leave('old-1');
    group.settle();
    expect(readersOf(group, 'orders')).toEqual(['old-2', 'old-2', 'old-2', 'old-2']);
    group.leave('old-2');
    group.settle();
    expect(loads(group)).toEqual([1, 1, 1, 1]);
    expect(readersOf(group, 'visits')).not.toContain('nobody');
    // And back again.
    group.join('old-3', release('first'));
    group.settle();
    expect(loads(group)).toEqual([0, 1, 1, 1, 1]);
    for (const id of ['new-0', 'new-1', 'new-2', 'new-3']) group.leave(id);
    group.settle();
    expect(loads(group)).toEqual([7]);
  });

  it('remember what ran when the last members that ran it come back without their tasks', () => {
    const group = groupOf('first');
    for (const id of ['new-0', 'new-1']) group.join(id, release('merged'));
    group.settle();
    // A crash and a restart within one rebalance: it claims nothing, and is the minority.
    group.leave('old-0');
    group.join('old-0', release('first'));
    group.settle();
    expect(readersOf(group, 'orders')).toEqual(['old-0', 'old-0', 'old-0', 'old-0']);
  });

  it('refuse a third topology until one of the two has gone', () => {
    const group = groupOf('first');
    group.join('new', release('withSecondStore'));
    group.settle();
    const before = readersOf(group, 'orders');
    group.join('newer', release('withRepartition'));
    group.settle();
    expect([group.members.map(({ id }) => id), readersOf(group, 'orders')]).toEqual([['old-0', 'new'], before]);
    group.leave('old-0');
    group.join('newer', release('withRepartition'));
    group.settle();
    expect(group.members.map(({ id }) => id)).toEqual(['new', 'newer']);
  });

  it('keep partitions with the stores that they had under a release that nobody has any more', () => {
    const group = groupOf('first');
    group.join('new', release('withSecondStore'));
    group.settle();
    const changed = readersOf(group, 'orders').flatMap((reader, partition) => (reader === 'new' ? [partition] : []));
    expect(changed.length).toBeGreaterThan(0);
    // The way forward: what was wrong with it is mended in a release that adds to it, and takes its place.
    group.leave('new');
    group.join('newer', release('withRepartition'));
    group.settle();
    for (const partition of changed) expect(readersOf(group, 'orders')[partition]).toBe('newer');
    // As good as when it had not been there: the others are still shared.
    expect(readersOf(group, 'orders')).toContain('old-0');
  });

  it('ask a custom assignor for the tasks that the same members may run at a time', () => {
    const asked: string[] = [];
    const group = new ReleasesGroup({
      name: 'watched',
      assign: (input) => {
        asked.push(`${input.tasks.length} tasks for ${input.members.map(({ memberId }) => memberId).join()}`);
        return stickyAssignor.assign(input);
      },
    });
    group.join('old', release('first'));
    group.join('new', release('withPartInFront'));
    group.round();
    expect(asked.sort()).toEqual(['2 tasks for new', '7 tasks for old,new']);
  });
});

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('join', 'join', 'leave', 'replace'),
    release: fc.constantFrom(...releaseNames),
    which: fc.nat(9),
    /** Rounds before the next step, at least one, or nobody remembers what ran; more than 3: until the group rests. */
    rounds: fc.integer({ min: 1, max: 6 }),
  }),
  { minLength: 1, maxLength: 10 },
);

describe('for any order of starts and stops of any releases', () => {
  it.each([
    ['sticky', stickyAssignor],
    ['range', rangeAssignor],
    ['a custom assignor', { name: 'own', assign: stickyAssignor.assign.bind(stickyAssignor) }],
  ])('no partition and no store has two tasks, all that can run does, nothing moves back and forth (%s)', (_, assignor) => {
    fc.assert(
      fc.property(steps, fc.nat(1), (all, replicas) => {
        const group = new ReleasesGroup(assignor, replicas);
        let made = 0;
        const ran = new Map<string, SubTopologyShape>();
        for (const { what, release: name, which, rounds } of all) {
          if (what !== 'join' && group.members.length > 0) group.leave(group.members[which % group.members.length]!.id);
          if (what !== 'leave') group.join(`m${made++}`, release(name));
          for (let round = 0; round < Math.min(rounds, 3); round++) {
            // What may not run twice is checked at each round.
            group.round();
            expectNoWayBack(group, ran);
          }
          if (rounds <= 3) continue;
          group.settle();
          expect(group.round()).toBe(false);
          expectNoWayBack(group, ran);
          expectEverythingRuns(group);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('a rolling upgrade ends as if all had been started with the new release, and a rollback as with the old one', () => {
    fc.assert(
      fc.property(fc.constantFrom(...releaseNames), fc.constantFrom(...releaseNames), fc.integer({ min: 1, max: 4 }), (from, to, size) => {
        const group = new ReleasesGroup();
        for (let index = 0; index < size; index++) group.join(`m${index}`, release(from));
        group.settle();
        for (const name of [to, from]) {
          for (let index = 0; index < size; index++) {
            group.leave(`m${index}`);
            if (index % 2 === 0) group.settle();
            group.join(`m${index}`, release(name));
            group.settle();
            expectEverythingRuns(group);
          }
          const fresh = new ReleasesGroup();
          for (let index = 0; index < size; index++) fresh.join(`m${index}`, release(name));
          fresh.settle();
          expect([...group.readers().keys()].sort()).toEqual([...fresh.readers().keys()].sort());
          const count = loads(group).reduce((sum, load) => sum + load, 0);
          expect(loads(group)[0]).toBeGreaterThanOrEqual(Math.floor(count / size));
        }
      }),
      { numRuns: 20 },
    );
  });
});

/** A partition changes to what adds to it, or when no member has any more what it ran with. */
function expectNoWayBack(group: ReleasesGroup, ran: Map<string, SubTopologyShape>): void {
  for (const [partition, shape] of ran) if (!group.has(shape)) ran.delete(partition);
  for (const [partition, shape] of group.shapes()) {
    const before = ran.get(partition);
    if (before !== undefined) expect([partition, addsTo(before, shape)]).toEqual([partition, true]);
    ran.set(partition, shape);
  }
}

/** Each partition of what all members read, and of what only a part that one release has reads, is read once. */
function expectEverythingRuns(group: ReleasesGroup): void {
  const readers = group.readers();
  for (const [partition, ids] of readers) expect([partition, ids.length]).toEqual([partition, 1]);
  const parts = applicationParts(
    group.members.map((member) => member.release),
    () => [],
  );
  for (const part of parts) {
    const always = [...part.shapes.values()].reduce<readonly string[]>(
      (topics, shape, index) => (index === 0 ? shape.topics : topics.filter((topic) => shape.topics.includes(topic))),
      [],
    );
    for (const topic of always)
      for (let partition = 0; partition < topicPartitions[topic]!; partition++)
        expect([...readers.keys()]).toContain(`${topic}-${partition}`);
  }
}

function addsTo(less: SubTopologyShape, more: SubTopologyShape): boolean {
  return (
    less.stores.every(({ name }) => more.stores.some((store) => store.name === name)) &&
    less.feeds.every((feed) => more.feeds.includes(feed))
  );
}
