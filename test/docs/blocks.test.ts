import { describe, expect, it } from '@jest/globals';
import { docsModules } from '../../scripts/check/docs-blocks.js';

const page = (...lines: string[]) => docsModules('page.md', lines.join('\n'));

describe('the TypeScript of a page', () => {
  it('makes a module of each ts block, and of no other', () => {
    const modules = page('# Title', '```ts', 'const a = 1;', '```', '```sh', 'ls', '```', '```ts', 'const b = 2;', '```');
    expect(modules.map(({ line, source, run }) => ({ line, source, run }))).toEqual([
      { line: 3, source: 'export {};\nconst a = 1;', run: false },
      { line: 9, source: 'export {};\nconst b = 2;', run: false },
    ]);
  });

  it('joins a continued block to the one before it, and knows the lines of both', () => {
    const [module, ...more] = page('```ts', 'const a = 1;', '```', '', '<!-- ts continued run -->', '', '```ts', 'a.toFixed();', '```');
    expect(more).toEqual([]);
    expect(module).toMatchObject({ source: 'export {};\nconst a = 1;\na.toFixed();', pageLines: [2, 2, 8], run: true });
  });

  it('puts given code before each block, until other code is given', () => {
    const modules = page('<!-- ts given', 'declare const a: 1;', '-->', '```ts', 'a;', '```', '<!-- ts given', '-->', '```ts', 'b;', '```');
    expect(modules.map(({ source, pageLines }) => ({ source, pageLines }))).toEqual([
      { source: 'export {};\ndeclare const a: 1;\na;', pageLines: [5, 2, 5] },
      { source: 'export {};\nb;', pageLines: [10, 10] },
    ]);
  });

  it('refuses a block that continues nothing, a mark on another language and an open end', () => {
    expect(() => page('<!-- ts continued -->', '```ts', 'a;', '```')).toThrow('page.md:3: there is no block to continue');
    expect(() => page('<!-- ts run -->', '```sh', 'ls', '```')).toThrow('page.md:2');
    expect(() => page('```ts', 'a;')).toThrow('page.md:1: nothing ends');
  });
});
