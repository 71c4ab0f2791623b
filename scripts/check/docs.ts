import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Check } from './check.js';

const roots = ['README.md', 'CONTRIBUTING.md', 'docs', 'src', 'examples'];

/** Every relative link in the pages of this repository leads to a file, and every error code is listed where docs list them. */
export const docsCheck: Check = {
  name: 'docs',
  async run() {
    const pages = (await Promise.all(roots.map(markdownFiles))).flat();
    const faults = (await Promise.all(pages.map(brokenLinks))).flat();
    faults.push(...(await unlistedErrors(pages)));
    return faults.length > 0 ? faults.join('\n') : null;
  },
};

async function markdownFiles(root: string): Promise<string[]> {
  if (!(await exists(root))) return [];
  if (root.endsWith('.md')) return [root];
  const entries = await readdir(root, { recursive: true });
  return entries.filter((entry) => entry.endsWith('.md') && !entry.includes('node_modules')).map((entry) => join(root, entry));
}

async function brokenLinks(page: string): Promise<string[]> {
  const text = (await readFile(page, 'utf8')).replaceAll(/```[\s\S]*?```/g, '');
  const faults: string[] = [];
  for (const [, target = ''] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    if (!(await exists(join(dirname(page), target)))) faults.push(`${page}: no file at ${target}`);
  }
  return faults;
}

/** docs/Reference/errors.md, once there, names every code of src/errors.ts and no other. */
async function unlistedErrors(pages: readonly string[]): Promise<string[]> {
  const page = pages.find((candidate) => /errors\.md$/.test(candidate));
  if (page === undefined) return [];
  const inCode = codes(await readFile('src/errors.ts', 'utf8'));
  const inDocs = codes(await readFile(page, 'utf8'));
  return [
    ...[...inCode].filter((code) => !inDocs.has(code)).map((code) => `${page}: ${code} is not listed`),
    ...[...inDocs].filter((code) => !inCode.has(code)).map((code) => `${page}: ${code} is not in src/errors.ts`),
  ];
}

function codes(text: string): Set<string> {
  return new Set(text.match(/\bMILL_[A-Z0-9_]+\b/g) ?? []);
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
