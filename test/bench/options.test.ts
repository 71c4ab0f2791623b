import { describe, expect, it } from '@jest/globals';
import { parseOptions } from '../../bench/options.js';

const known = ['map-eos', 'curve-keys-count', 'curve-partitions-map'];

describe('the rows that are asked for', () => {
  it('can be a start and a star', () => {
    expect(parseOptions(['curve-*', 'map-eos'], known).rows).toEqual(['curve-keys-count', 'curve-partitions-map', 'map-eos']);
  });

  it.each(['map', 'curves-*'])('must be there: %s', (row) => {
    expect(() => parseOptions([row], known)).toThrow(`There is no row ${row}`);
  });
});
