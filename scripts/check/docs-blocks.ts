/**
 * The TypeScript of the pages: every ```ts block of a Markdown page, as a module that can be compiled and, where it says so, run.
 *
 * A block is a module of its own. Comments that a reader does not see change that:
 * `<!-- ts continued -->` before a block joins it to the block before it, `<!-- ts run -->` (or `continued run`) has a test run it, and
 * `<!-- ts given` … `-->` holds code that is put in front of each block from there on, until the next such comment.
 */
export interface DocsModule {
  /** Path of the page. */
  readonly page: string;
  /** Line of its first block on the page, from 1. */
  readonly line: number;
  readonly run: boolean;
  readonly source: string;
  /** For each line of `source` its line on the page, from 1. */
  readonly pageLines: readonly number[];
}

interface OpenModule {
  readonly line: number;
  run: boolean;
  readonly source: string[];
  readonly pageLines: number[];
}

const directive = /^<!-- ts ((?:continued|run)(?: run)?) -->$/;

/** @throws when a page has a block that continues nothing, or ends inside a block or a comment. */
export function docsModules(page: string, text: string): DocsModule[] {
  const modules: OpenModule[] = [];
  const lines = text.split('\n');
  let given = { line: 0, code: [] as string[] };
  let words: ReadonlySet<string> = new Set();
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line === '<!-- ts given') {
      const end = endOf(lines, at, '-->', page);
      given = { line: at + 1, code: lines.slice(at + 1, end) };
      at = end;
    } else if (directive.test(line)) {
      words = new Set(directive.exec(line)?.[1]?.split(' '));
    } else if (line.startsWith('```')) {
      const end = endOf(lines, at, '```', page);
      if (line === '```ts') addBlock(modules, lines.slice(at + 1, end), at + 1, given, words, page);
      else if (words.size > 0) throw new Error(`${page}:${at + 1}: the comment before it is for ts blocks only`);
      words = new Set();
      at = end;
    }
  }
  return modules.map(({ line, run, source, pageLines }) => ({ page, line, run, source: source.join('\n'), pageLines }));
}

function addBlock(
  modules: OpenModule[],
  code: readonly string[],
  at: number,
  given: { readonly line: number; readonly code: readonly string[] },
  words: ReadonlySet<string>,
  page: string,
): void {
  const line = at + 1;
  const continued = words.has('continued') ? modules.at(-1) : undefined;
  if (words.has('continued') && continued === undefined) throw new Error(`${page}:${line}: there is no block to continue`);
  const module = continued ?? { line, run: false, source: ['export {};'], pageLines: [line] };
  if (continued === undefined) {
    modules.push(module);
    append(module, given.code, given.line + 1);
  }
  append(module, code, line);
  module.run ||= words.has('run');
}

function append(module: OpenModule, code: readonly string[], firstLine: number): void {
  code.forEach((text, index) => {
    module.source.push(text);
    module.pageLines.push(firstLine + index);
  });
}

function endOf(lines: readonly string[], start: number, mark: string, page: string): number {
  const end = lines.indexOf(mark, start + 1);
  if (end < 0) throw new Error(`${page}:${start + 1}: nothing ends what begins here`);
  return end;
}
