/** Runs what the pages mark with `<!-- ts run -->`: each block asserts for itself. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { docsModules } from '../../scripts/check/docs-blocks.js';

const pages = ['README.md', ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((entry) => join('docs', entry))];
const modules = pages
  .filter((page) => page.endsWith('.md') && !page.includes('Reference/api/'))
  .flatMap((page) => docsModules(page, readFileSync(page, 'utf8')))
  .filter(({ run }) => run);

describe('blocks of the pages', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-docs-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it('has some to run', () => {
    expect(modules.length).toBeGreaterThan(2);
  });

  it.each(modules.map(({ page, line, source }) => ({ name: `${page}:${line}`, source })))(
    '$name does what it says',
    async ({ name, source }) => {
      const file = join(folder, `${name.replaceAll(/\W/g, '-').toLowerCase()}.ts`);
      await writeFile(file, source);
      await import(file);
    },
  );
});
