import { readdir, readFile } from 'node:fs/promises';

/** docs/README.md links every page beside it. */
export async function unlistedPages(): Promise<string[]> {
  const index = await readFile('docs/README.md', 'utf8');
  const entries = await Promise.all(['Guides', 'Reference'].map(async (folder) => pagesIn(folder)));
  return entries
    .flat()
    .filter((page) => !index.includes(`](${page})`))
    .map((page) => `docs/README.md: ${page} is not listed`);
}

async function pagesIn(folder: string): Promise<string[]> {
  return (await readdir(`docs/${folder}`)).filter((entry) => entry.endsWith('.md')).map((entry) => `${folder}/${entry}`);
}

/** examples/README.md links every example: a file, or a folder with several. */
export async function unlistedExamples(): Promise<string[]> {
  const index = await readFile('examples/README.md', 'utf8');
  return (await readdir('examples'))
    .filter((entry) => entry !== 'README.md' && !index.includes(`](${entry}`))
    .map((entry) => `examples/README.md: ${entry} is not listed`);
}
