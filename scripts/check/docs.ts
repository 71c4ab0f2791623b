import { access, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Check } from './check.js';
import type { DocsModule } from './docs-blocks.js';
import { docsModules } from './docs-blocks.js';
import { DocsProgram } from './docs-program.js';
import { unlistedExamples, unlistedPages } from './docs-index.js';
import { metricsPageFaults } from './docs-metrics.js';
import { claimsWithoutTests } from './docs-tests.js';
import { configurationFaults, undocumentedOptions, unlistedNames } from './docs-reference.js';

/** Pages of these places, and the pages below them. */
const roots = ['README.md', 'CONTRIBUTING.md', 'docs', 'src', 'examples'];

/**
 * The pages say what is so: relative links lead to files and sections, every `ts` block compiles, docs/Reference lists every error code, every option with its
 * type and default, every metric of the catalogue, and every public name, and the indexes list every page and example.
 */
export const docsCheck: Check = {
  name: 'docs',
  async run() {
    const pages = (await Promise.all(roots.map(markdownFiles))).flat();
    const faults = (await Promise.all(pages.map(brokenLinks))).flat();
    faults.push(...(await unlistedErrors(pages)));
    faults.push(...(await unusedErrors()));
    faults.push(...(await unlistedPages()), ...(await unlistedExamples()), ...(await claimsWithoutTests(pages)));
    const docs = new DocsProgram((await Promise.all(pages.map(modulesOf))).flat());
    faults.push(
      ...docs.faults(),
      ...(await unlistedNames(docs, pages)),
      ...(await configurationFaults(docs)),
      ...undocumentedOptions(docs),
      ...(await metricsPageFaults()),
    );
    return faults.length > 0 ? faults.join('\n') : null;
  },
};

async function markdownFiles(root: string): Promise<string[]> {
  if (!(await exists(root))) return [];
  if (root.endsWith('.md')) return [root];
  const entries = await readdir(root, { recursive: true });
  // `npm run docs` writes Reference/api out of docstrings, which are checked where they stand.
  return entries
    .filter((entry) => entry.endsWith('.md') && !/node_modules|^Reference\/api\//.test(entry))
    .map((entry) => join(root, entry));
}

async function modulesOf(page: string): Promise<DocsModule[]> {
  return docsModules(page, await readFile(page, 'utf8'));
}

async function brokenLinks(page: string): Promise<string[]> {
  const text = await proseOf(page);
  const faults: string[] = [];
  for (const [, target = '', section] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)]*))?\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const path = target === '' ? page : join(dirname(page), target);
    if (!(await exists(path))) faults.push(`${page}: no file at ${target}`);
    else if (section !== undefined && !sectionsOf(await proseOf(path)).has(section))
      faults.push(`${page}: no section #${section} in ${path}`);
  }
  return faults;
}

async function proseOf(page: string): Promise<string> {
  return (await readFile(page, 'utf8')).replaceAll(/```[\s\S]*?```/g, '');
}

/** The anchors of the headings, as GitHub makes them. */
function sectionsOf(prose: string): Set<string> {
  const headings = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\d _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
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

/** A code that nothing throws is a promise that nobody keeps. */
async function unusedErrors(): Promise<string[]> {
  const sources = (await readdir('src', { recursive: true })).filter((entry) => entry.endsWith('.ts') && entry !== 'errors.ts');
  const used = codes(
    (await Promise.all(sources.map((entry) => readFile(join('src', entry), 'utf8'))))
      .join('\n')
      .replaceAll(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''),
  );
  // Thrown by the class of its own in src/errors.ts.
  used.add('MILL_TRANSPORT');
  return [...codes(await readFile('src/errors.ts', 'utf8'))]
    .filter((code) => !used.has(code))
    .map((code) => `src/errors.ts: nothing throws ${code}`);
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
