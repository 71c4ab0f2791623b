/** Runs the examples that need no broker: each prints what its last lines say. */
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';

const mark = '\n// Prints:\n';
const examples = readdirSync('examples')
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, source: readFileSync(`examples/${name}`, 'utf8') }))
  .filter(({ source }) => source.includes(mark))
  .map(({ name, source }) => ({
    name,
    expected: source
      .slice(source.indexOf(mark) + mark.length)
      .trimEnd()
      .replaceAll(/^\/\/ ?/gm, ''),
  }));

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the examples that need no broker', () => {
  it('are some of each family', () => {
    expect(examples.length).toBeGreaterThan(15);
  });

  it.each(examples)(
    '$name prints what it says',
    async ({ name, expected }) => {
      const printed: string[] = [];
      jest.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void printed.push(values.map(String).join(' ')));
      await import(resolve('examples', name));
      expect(printed.join('\n')).toBe(expected);
    },
    60_000,
  );
});
