import { describe, expect, it } from '@jest/globals';
import type { KStream } from '../../../src/dsl/kstream.js';
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { emptyAssignment } from '../../../src/rebalance/member-assignment.js';
import { acceptReleases, type ReleasedMember } from '../../../src/rebalance/releases/accepted-releases.js';
import {
  decodeRelease,
  encodeRelease,
  releaseFingerprint,
  shapeFingerprint,
  type Release,
  type ReleaseMode,
} from '../../../src/rebalance/releases/release.js';
import { releaseDifferences } from '../../../src/rebalance/releases/release-differences.js';
import { decodeRunningShapes, encodeRunningShapes, nothingContested } from '../../../src/rebalance/releases/running-shapes.js';
import { assignmentFor } from '../../../src/rebalance/returned-member.js';
import { releasePatternMatches } from '../../../src/runtime/release-of.js';
import { serdes } from '../../../src/serdes/serdes.js';
import { tumblingEventTime } from '../../../src/time/windowing/tumbling-windows.js';
import { tumbling } from '../../../src/time/time-windows.js';
import { watermarks } from '../../../src/time/watermarks/watermark-strategy.js';
import { builtRelease, releaseNames, someRelease } from './some-releases.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const prints = ({ shapes }: Release): string[] => shapes.map(shapeFingerprint);

const member = (memberId: string, release: Release, generation: number): ReleasedMember => ({
  memberId,
  release,
  generation,
  running: nothingContested,
  ownedTasks: [],
});

describe('what a topology is to the group', () => {
  it('does not change with functions, stateless operators, their names and sinks', () => {
    expect(prints(someRelease('withStatelessSteps'))).toEqual(prints(someRelease('first')));
    expect(releaseFingerprint(someRelease('withStatelessSteps'))).toBe(releaseFingerprint(someRelease('first')));
  });

  it('knows a sub-topology whatever its number is', () => {
    const [, ...others] = prints(someRelease('withPartInFront'));
    expect(others).toEqual(prints(someRelease('first')));
    expect(releaseFingerprint(someRelease('withPartInFront'))).not.toBe(releaseFingerprint(someRelease('first')));
  });

  it.each(['withSecondStore', 'withRepartition', 'merged'] as const)('changes with what is read and kept (%s)', (name) => {
    expect(prints(someRelease(name))[0]).not.toBe(prints(someRelease('first'))[0]);
  });

  it('changes with the number of who sends event time, since it goes by number', () => {
    const timed = (builder: StreamsBuilder): void => {
      builder
        .stream('clicks', { ...text, watermarks: watermarks.monotonous() })
        .keyBy((value) => value, { name: 'by-page', ...text })
        .window(tumblingEventTime({ size: 1000 }))
        .reduce((a, b) => a + b, { name: 'pages' })
        .to('pages');
    };
    const shifted = builtRelease((builder) => {
      builder.stream('a-before', text).to('b');
      timed(builder);
    });
    const [, ...others] = prints(shifted);
    for (const print of prints(builtRelease(timed))) expect(others).not.toContain(print);
  });

  it('is the same after a journey, short or long', () => {
    for (const name of releaseNames) {
      const release = someRelease(name);
      expect(decodeRelease(encodeRelease(release))).toEqual(release);
    }
    const small: Release = { ...someRelease('first'), shapes: [{ ...someRelease('first').shapes[1]!, id: 0 }] };
    expect(encodeRelease(small).startsWith('[')).toBe(true);
    expect(encodeRelease(someRelease('withRepartition')).startsWith('[')).toBe(false);
    expect(decodeRelease('[{"id":3,"topics":["a"],"colour":"red"}]').shapes).toMatchObject([
      { id: 3, topics: ['a'], stores: [], feeds: [] },
    ]);
  });

  it('is of one mode, which one of streaming does not say', () => {
    const [streaming, batch] = [someRelease('withoutVisits'), someRelease('withoutVisits', 'batch')];
    expect(encodeRelease(streaming)).toBe(JSON.stringify(streaming.shapes));
    expect(releaseFingerprint(streaming)).toBe('61fbe99014f69d22');
    expect(decodeRelease('[{"id":0,"topics":["orders"]}]').mode).toBe('streaming');
    for (const release of [batch, someRelease('withRepartition', 'batch')]) expect(decodeRelease(encodeRelease(release))).toEqual(release);
    // To a version that knows no modes it is no list of sub-topologies.
    expect(encodeRelease(batch)).toMatch(/^[^[]/);
    expect(() => decodeRelease('{"mode":"lazy","shapes":[]}')).toThrow('mode lazy');
  });

  it('differs between modes also where all sub-topologies are the same', () => {
    const copy = (mode: ReleaseMode): Release => builtRelease((builder) => builder.stream('orders', text).to('copy'), mode);
    expect(prints(copy('batch'))).toEqual(prints(copy('streaming')));
    expect(releaseFingerprint(copy('batch'))).not.toBe(releaseFingerprint(copy('streaming')));
  });

  it('tells what runs where in few characters', () => {
    const running = new Map([
      ['aa', new Set([0, 1, 2])],
      ['bb', new Set([3])],
    ]);
    expect(encodeRunningShapes(running)).toEqual({ shapes: ['aa', 'bb'], on: '0:0-2;1:3' });
    expect(decodeRunningShapes(encodeRunningShapes(running))).toEqual(running);
    expect(encodeRunningShapes(nothingContested)).toBeUndefined();
    expect(decodeRunningShapes(undefined)).toEqual(nothingContested);
  });

  it('names patterns as text', () => {
    const release = builtRelease((builder) => builder.stream(/orders-.*/i, text).to('all'));
    expect(release.shapes[0]?.patterns).toEqual(['/orders-.*/i']);
    expect(releasePatternMatches('/orders-.*/i', 'Orders-eu')).toBe(true);
    expect(releasePatternMatches('/orders-.*/i', 'my-orders-eu')).toBe(false);
  });
});

describe('two releases can’t share a group', () => {
  const counted = (builder: StreamsBuilder, storeName?: string) =>
    builder
      .stream('orders', text)
      .groupByKey()
      .count(storeName === undefined ? {} : { materialized: { storeName } });
  const byValue = (name: string, store: string) =>
    builtRelease((builder) => {
      builder
        .stream('orders', text)
        .groupBy((value) => value, { name, ...text })
        .count({ materialized: { storeName: store } })
        .toStream()
        .to('result', { valueSerde: serdes.double });
    });

  it('when a store of the same name has rows of another kind', () => {
    const windowed = builtRelease((builder) => {
      builder
        .stream('orders', text)
        .groupByKey()
        .windowedBy(tumbling({ size: 1000 }))
        .count({ materialized: { storeName: 'counts' } });
    });
    expect(
      releaseDifferences(
        builtRelease((builder) => counted(builder, 'counts')),
        windowed,
      ),
    ).toEqual(['store counts is of kind timestampedKeyValue and would become timestampedWindow']);
  });

  it('when a store gets or loses its changelog', () => {
    const unlogged = builtRelease((builder) =>
      builder
        .stream('orders', text)
        .groupByKey()
        .count({ materialized: { storeName: 'counts', logged: false } }),
    );
    expect(
      releaseDifferences(
        builtRelease((builder) => counted(builder, 'counts')),
        unlogged,
      ),
    ).toEqual(['store counts has the changelog app-counts-changelog and would have no changelog']);
  });

  it('when what is in a repartition topic would be lost to a result that goes on', () => {
    expect(releaseDifferences(byValue('by-value', 'counts'), byValue('by-worth', 'counts'))).toEqual([
      'the internal topic app-by-value-repartition would not be read any more, though counts, result, which it leads to, goes on',
    ]);
  });

  const byWayOf = (name: string, end: (stream: KStream<string, string>) => unknown): Release =>
    builtRelease((builder) => {
      end(builder.stream('orders', text).repartition({ name, ...text }));
    });

  it.each([
    ['a topic that a function chooses', (stream: KStream<string, string>) => stream.to(() => 'result'), /a function chooses the topic/],
    ['a step without a sink', (stream: KStream<string, string>) => stream.foreach(() => undefined), /end without a sink/],
  ])('when what is in a repartition topic would be lost to %s', (_, end, what) => {
    expect(releaseDifferences(byWayOf('one', end), byWayOf('other', end))).toEqual([expect.stringMatching(what)]);
    // It may go on without a repartition.
    const without = builtRelease((builder) => {
      end(builder.stream('orders', text));
    });
    expect(releaseDifferences(byWayOf('one', end), without)).toEqual([expect.stringMatching(what)]);
    expect(releaseDifferences(without, byWayOf('one', end))).toEqual([]);
    expect(releaseDifferences(byWayOf('one', end), byWayOf('one', end))).toEqual([]);
  });

  it('when a function chooses from now on what was a topic by name', () => {
    const byName = byWayOf('one', (stream) => stream.to('result'));
    expect(
      releaseDifferences(
        byName,
        byWayOf('other', (stream) => stream.to(() => 'result')),
      ).join(),
    ).toContain('result, which it leads to, may go on');
    expect(
      releaseDifferences(
        byName,
        byWayOf('other', (stream) => stream.to('another')),
      ),
    ).toEqual([]);
  });

  it('when a generated name has moved, so that a store would begin empty', () => {
    const [before, after] = [
      builtRelease((builder) => counted(builder)),
      builtRelease((builder) => {
        builder
          .stream('orders', text)
          .filter(() => true)
          .groupByKey()
          .count();
      }),
    ];
    expect(releaseDifferences(before, after).join()).toContain('generated names count operators');
  });

  it('but can in all other cases', () => {
    for (const one of releaseNames)
      for (const other of releaseNames) expect(releaseDifferences(someRelease(one), someRelease(other))).toEqual([]);
  });

  it('then the members that were there before go on, and the others are told what differs', () => {
    const [old, changed] = [byValue('by-value', 'counts'), byValue('by-worth', 'counts')];
    const joined = acceptReleases([member('b', changed, -1), member('c', changed, -1), member('a', old, 4)]);
    expect(joined.accepted.map(({ memberId }) => memberId)).toEqual(['a']);
    expect([...joined.refused.keys()]).toEqual(['b', 'c']);
    expect(joined.refused.get('b')).toMatchObject({
      code: 'MILL_TOPOLOGY_MISMATCH',
      message: expect.stringMatching(/app-by-value-repartition.*another applicationId/),
    });
    // Nobody was there before: the majority is.
    expect([...acceptReleases([member('b', changed, -1), member('c', changed, -1), member('a', old, -1)]).refused.keys()]).toEqual(['a']);
  });
});

describe('the group takes in', () => {
  const refusedIn = (...members: readonly ReleasedMember[]): string[] => [...acceptReleases(members).refused.keys()];
  const direct = builtRelease((builder) => builder.stream('orders', text).to('result'));
  const byWay = builtRelease((builder) =>
    builder
      .stream('orders', text)
      .repartition({ name: 'way', ...text })
      .to('result'),
  );

  it('two topologies at a time: a third is told that an upgrade is under way', () => {
    const upgrade = [member('a', someRelease('first'), 4), member('b', someRelease('withSecondStore'), 4)];
    const joined = acceptReleases([...upgrade, member('c', someRelease('withRepartition'), -1)]);
    expect(joined.accepted.map(({ memberId }) => memberId)).toEqual(['a', 'b']);
    expect(joined.refused.get('c')).toMatchObject({
      code: 'MILL_TOPOLOGY_MISMATCH',
      message: expect.stringMatching(/upgrade is under way.*Finish the upgrade or go back/),
    });
    // One of the two is stopped, so the third is the second.
    expect(refusedIn(member('a', someRelease('first'), 5), member('c', someRelease('withRepartition'), -1))).toEqual([]);
    expect(refusedIn(...upgrade, member('c', someRelease('withStatelessSteps'), -1))).toEqual([]);
  });

  it('of a group that begins, the two that most members have', () => {
    const all = ['withSecondStore', 'first', 'first', 'withSecondStore', 'merged'] as const;
    expect(refusedIn(...all.map((name, index) => member(`${name} ${index}`, someRelease(name), -1)))).toEqual(['merged 4']);
  });

  it('every member of the last generation, whatever the others have', () => {
    expect(refusedIn(...(['first', 'merged', 'withRepartition'] as const).map((name) => member(name, someRelease(name), 4)))).toEqual([]);
  });

  it('another instance of a release that runs, halfway through an upgrade that has no way back', () => {
    expect(refusedIn(member('old', direct, 4), member('new', byWay, 4), member('restarted', direct, -1))).toEqual([]);
    // What is in the repartition topic would stay there.
    expect(refusedIn(member('new', byWay, 4), member('back', direct, -1))).toEqual(['back']);
  });
});

describe('instances of both modes', () => {
  const [streaming, batch] = [someRelease('first'), someRelease('first', 'batch')];
  const refusedIn = (...members: readonly ReleasedMember[]): string[] => [...acceptReleases(members).refused.keys()];

  it.each([
    ['batch', streaming, batch, 'streaming'],
    ['streaming', batch, streaming, 'batch'],
  ])('do not share a group: of %s the later one is refused, and told what to do', (mode, running, joining, other) => {
    const { refused } = acceptReleases([member('later', joining, -1), member('also later', joining, -1), member('there', running, 4)]);
    expect([...refused.keys()].sort()).toEqual(['also later', 'later']);
    expect(refused.get('later')).toEqual({
      code: 'MILL_TOPOLOGY_MISMATCH',
      message: expect.stringMatching(new RegExp(`built for ${mode} mode.*built for ${other} mode.*Let the other instances end first`)),
    });
  });

  it('are told so also in the midst of an upgrade, and beside a version of Millrace that does not know releases', () => {
    const upgrade = [member('a', streaming, 4), member('b', someRelease('withSecondStore'), 4)];
    const older = { ...member('older', streaming, 4), isOlder: true };
    for (const there of [upgrade, [older]])
      expect(acceptReleases([...there, member('later', batch, -1)]).refused.get('later')?.message).toContain('built for streaming mode');
    const { refused } = acceptReleases([member('there', batch, 4), { ...older, generation: -1 }]);
    expect(refused.get('older')?.message).toContain('built for batch mode');
  });

  it('of one mode go together, with two releases too', () => {
    expect(refusedIn(member('a', batch, 4), member('b', batch, -1), member('c', someRelease('withSecondStore', 'batch'), -1))).toEqual([]);
  });

  it('that begin together are sorted by what most of them are', () => {
    const all = [member('a', streaming, -1), member('b', batch, -1), member('c', batch, -1)];
    expect(refusedIn(...all)).toEqual(['a']);
    expect(refusedIn(...all, member('d', streaming, -1), member('e', streaming, -1)).sort()).toEqual(['b', 'c']);
  });

  it('may follow each other', () => {
    expect(refusedIn(member('next', batch, -1))).toEqual([]);
    // It ran before, was dropped, and comes back after the other mode has begun.
    expect(refusedIn(member('paused', streaming, 3), member('there', batch, 5))).toEqual(['paused']);
  });
});

describe('while a member runs a version of Millrace that does not know releases, and may come to lead,', () => {
  const first = someRelease('first');
  const shifted = someRelease('withPartInFront');
  const older = (memberId: string, generation: number): ReleasedMember => ({ ...member(memberId, first, generation), isOlder: true });
  const refusedIn = (...members: readonly ReleasedMember[]): [string, string][] =>
    [...acceptReleases(members).refused].map(([memberId, { message }]) => [memberId, message]);

  it('another topology is refused, and who has that member’s topology is taken in', () => {
    const refused = refusedIn(older('older', 4), member('same', first, -1), member('other', shifted, -1));
    expect(refused).toEqual([['other', expect.stringMatching(/knows one topology only.*deploy this version on all instances first/)]]);
  });

  it('that member is refused by a group with two topologies, also beside a newer one that joins with it', () => {
    const upgrade = [member('a', first, 4), member('b', shifted, 4)];
    const refused = refusedIn(...upgrade, older('older', -1), member('newer', first, -1));
    expect(refused).toEqual([['older', expect.stringMatching(/two topologies.*deploy the version of the other instances first/)]]);
  });

  it('a group that begins has one topology', () => {
    expect(refusedIn(older('older', -1), older('second', -1), member('other', shifted, -1)).map(([id]) => id)).toEqual(['other']);
    expect(refusedIn(older('older', -1), member('b', shifted, -1), member('c', shifted, -1)).map(([id]) => id)).toEqual(['older']);
    expect(refusedIn(older('older', -1), member('same', first, -1))).toEqual([]);
  });
});

describe('a static member that comes back with another release', () => {
  it('takes nothing of the assignment that the release before had', () => {
    const [before, after] = [someRelease('first'), someRelease('withPartInFront')];
    const assignment = { ...emptyAssignment, activeTasks: [{ subTopology: 0, partition: 1 }], release: releaseFingerprint(before) };
    expect(assignmentFor(before, assignment)).toBe(assignment);
    expect(assignmentFor(someRelease('withStatelessSteps'), assignment)).toBe(assignment);
    expect(assignmentFor(after, assignment)).toMatchObject({ activeTasks: [], settled: false });
    expect(assignmentFor(after, { ...assignment, release: null }).activeTasks).toHaveLength(1);
    expect(assignmentFor(someRelease('first', 'batch'), assignment)).toMatchObject({ activeTasks: [], settled: false });
  });
});
