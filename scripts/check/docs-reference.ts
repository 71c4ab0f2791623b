import { readFile } from 'node:fs/promises';
import { sep } from 'node:path';
import ts from 'typescript';
import { resolveConfig } from '../../src/app/config.js';
import type { DocsProgram } from './docs-program.js';
import { entryPoints } from './docs-program.js';

/** Every public name, and every member of it that is declared in src/, stands on some page of docs/Reference. */
export async function unlistedNames(docs: DocsProgram, pages: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(pages.filter((page) => page.includes('Reference')).map((page) => readFile(page, 'utf8')));
  const listed = new Set(texts.join('\n').match(/[A-Za-z_]\w*/g));
  const faults: string[] = [];
  for (const entryPoint of entryPoints) {
    for (const symbol of docs.exportsOf(entryPoint)) {
      const names = [symbol.name, ...memberNames(docs, symbol).map((member) => `${symbol.name}.${member}`)];
      for (const name of names) {
        const last = name.slice(name.lastIndexOf('.') + 1);
        if (!listed.has(last)) faults.push(`docs/Reference: ${name} of ${entryPoint} is on no page`);
      }
    }
  }
  return faults;
}

function memberNames(docs: DocsProgram, exported: ts.Symbol): string[] {
  const checker = docs.program.getTypeChecker();
  const symbol = aliased(docs, exported);
  const types: ts.Type[] = [];
  if (symbol.flags & ts.SymbolFlags.Type) types.push(checker.getDeclaredTypeOfSymbol(symbol));
  else if (symbol.flags & ts.SymbolFlags.Variable) types.push(checker.getTypeOfSymbol(symbol));
  return types.flatMap((type) =>
    checker
      .getPropertiesOfType(type)
      .filter(isOurs)
      .map(({ name }) => name),
  );
}

function aliased({ program }: DocsProgram, exported: ts.Symbol): ts.Symbol {
  return exported.flags & ts.SymbolFlags.Alias ? program.getTypeChecker().getAliasedSymbol(exported) : exported;
}

/** Every field of a public `…Options` or `…Config` has a docstring: what it is, its unit, its default. */
export function undocumentedOptions(docs: DocsProgram): string[] {
  const checker = docs.program.getTypeChecker();
  const faults = new Set<string>();
  for (const symbol of entryPoints.flatMap((entryPoint) => docs.exportsOf(entryPoint))) {
    if (!/(Options|Config)$/.test(symbol.name)) continue;
    const fields = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(aliased(docs, symbol)));
    for (const field of fields.filter(isOurs)) {
      if (field.getDocumentationComment(checker).length === 0) faults.add(`${symbol.name}.${field.name} has no docstring`);
    }
  }
  return [...faults];
}

/** Public, named by a word, and declared in the sources rather than by Node or the language. */
function isOurs(member: ts.Symbol): boolean {
  const [declaration] = member.declarations ?? [];
  if (declaration === undefined || !/^[a-zA-Z]\w*$/.test(member.name)) return false;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  if (ts.getCombinedModifierFlags(declaration) & hidden) return false;
  return declaration.getSourceFile().fileName.startsWith(`${process.cwd()}${sep}src${sep}`);
}

const configurationPage = 'docs/Reference/configuration.md';

/** Option, type, unit, default, meaning, and the empty text before the first and after the last bar. */
const cellsOfRow = 7;

interface OptionRow {
  readonly type: string;
  readonly defaultText: string;
}

/** The table of options has the options of `StreamsConfig`, with their types and defaults. */
export async function configurationFaults(docs: DocsProgram): Promise<string[]> {
  const rows = new Map<string, OptionRow>();
  for (const line of (await readFile(configurationPage, 'utf8')).split('\n')) {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const [, name = '', type = '', , defaultText = ''] = cells;
    const option = /^`(\w+)`$/.exec(name)?.[1];
    if (option !== undefined && cells.length === cellsOfRow) rows.set(option, { type: code(type), defaultText });
  }
  const defaults: Readonly<Record<string, unknown>> = { ...resolveConfig({ applicationId: 'app', bootstrapServers: 'localhost:9092' }) };
  const faults: string[] = [];
  const options = optionTypes(docs);
  for (const [name, type] of options) {
    const row = rows.get(name);
    rows.delete(name);
    if (row === undefined) faults.push(`${configurationPage}: ${name} is missing`);
    else if (row.type !== type) faults.push(`${configurationPage}: ${name} has the type ${type}, not ${row.type}`);
    else if (!options.has(code(row.defaultText)) && !saysDefault(row.defaultText, defaults[name], name))
      faults.push(`${configurationPage}: the default of ${name} is ${JSON.stringify(defaults[name])}, not ${row.defaultText}`);
  }
  return [...faults, ...[...rows.keys()].map((name) => `${configurationPage}: ${name} is not an option`)];
}

function optionTypes(docs: DocsProgram): Map<string, string> {
  const symbol = docs.exportsOf('src/index.ts').find(({ name }) => name === 'StreamsConfig');
  const checker = docs.program.getTypeChecker();
  const declared = symbol === undefined ? undefined : checker.getAliasedSymbol(symbol).declarations?.[0];
  if (declared === undefined || !ts.isInterfaceDeclaration(declared)) throw new Error('src/index.ts exports no StreamsConfig');
  return new Map(
    declared.members.flatMap((member) =>
      ts.isPropertySignature(member) && member.type ? [[member.name.getText(), member.type.getText()] as const] : [],
    ),
  );
}

/** Defaults that are objects are told in words, those that follow from another option by its name. */
function saysDefault(text: string, value: unknown, name: string): boolean {
  if (name === 'applicationId' || name === 'bootstrapServers') return text === 'required';
  if (typeof value === 'number') {
    const [amount = '', unit] = code(text).split(' ');
    return Number(amount.replaceAll('_', '')) * (unit === 'MiB' ? 1024 * 1024 : 1) === value;
  }
  return typeof value === 'string' && name !== 'clientId' ? code(text) === `'${value}'` : text !== '';
}

/** What stands between the first backticks of a cell, with its bars unescaped. */
function code(cell: string): string {
  return /`([^`]*)`/.exec(cell)?.[1]?.replaceAll('\\|', '|') ?? cell;
}
