/**
 * Compiles src/ and bench/ into a folder of plain JavaScript, by the compiler that builds the package, so that what is measured is what users get:
 * no transformation at load time, no names kept by a bundler.
 */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import type { ProgramArguments } from './arguments.js';
import { toCommandLine } from './arguments.js';
import type { Command } from './side-process.js';

const root = join(import.meta.dirname, '../..');
const compilerOptions: ts.CompilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true };

export type NodeProgram = 'ours/app' | 'ours/produce' | 'ours/fetch' | 'kafkajs/produce' | 'kafkajs/fetch' | 'kafkajs/loop' | 'kafkats/app';

export interface NodeSide {
  command(program: NodeProgram, values: ProgramArguments): Command;
}

/**
 * @param folder empty; filled here
 * @param profile where the library's own programs leave CPU profiles, named after their application id; null: none
 */
export async function compileNodeSide(folder: string, profile: string | null): Promise<NodeSide> {
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const part of ['src', 'bench']) {
    for (const entry of await readdir(join(root, part), { recursive: true })) {
      if (entry.endsWith('.ts') && !entry.includes('node_modules')) await compile(join(part, entry), folder);
    }
  }
  let started = 0;
  return {
    command: (program, values) => ({
      file: process.execPath,
      args: [
        ...profileArguments(program.startsWith('ours/') ? profile : null, `${values['application-id']}-${++started}`),
        join(folder, 'bench', `${program}.js`),
        ...toCommandLine(values),
      ],
      cwd: root,
    }),
  };
}

function profileArguments(folder: string | null, name: string): string[] {
  return folder === null ? [] : ['--cpu-prof', '--cpu-prof-dir', folder, '--cpu-prof-name', `${name}.cpuprofile`];
}

async function compile(path: string, folder: string): Promise<void> {
  const source = await readFile(join(root, path), 'utf8');
  const target = join(folder, path.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, ts.transpileModule(source, { fileName: path, compilerOptions }).outputText);
}
