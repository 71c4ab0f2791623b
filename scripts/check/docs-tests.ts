import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A link of a page to a test file has the name of a test as its text, and the file has that test: what the page says is held by it. */
export async function claimsWithoutTests(pages: readonly string[]): Promise<string[]> {
  const faults: string[] = [];
  for (const page of pages) {
    for (const [, name = '', target = ''] of (await readFile(page, 'utf8')).matchAll(/\[([^\]]+)\]\(([^)]+\.test\.ts)\)/g)) {
      const tests = await readFile(join(dirname(page), target), 'utf8').catch(() => '');
      if (!name.startsWith('`') && !name.includes('/') && !tests.includes(`'${name}'`))
        faults.push(`${page}: ${target} has no test “${name}”`);
    }
  }
  return faults;
}
