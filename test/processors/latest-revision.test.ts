import { describe, expect, it } from '@jest/globals';
import { latestRevision } from '../../src/processors/latest-revision.js';

describe('a revision', () => {
  const revision = (number: number, value: number) => ({ revision: number, value });

  it('replaces older ones, and no newer one', () => {
    expect(latestRevision(revision(10, 21), revision(11, 22))).toEqual(revision(11, 22));
    expect(latestRevision(revision(11, 22), revision(10, 21))).toEqual(revision(11, 22));
  });

  it('may come again', () => {
    expect(latestRevision(revision(11, 22), revision(11, 22))).toEqual(revision(11, 22));
  });

  it('is refused when it comes with another content', () => {
    expect(() => latestRevision(revision(11, 22), revision(11, 23))).toThrow(
      expect.objectContaining({ code: 'MILL_REVISION_CONFLICT', message: expect.stringContaining('Revision 11 has two contents') }),
    );
  });
});
