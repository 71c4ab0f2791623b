import { join } from 'node:path';
import ts from 'typescript';
import type { DocsModule } from './docs-blocks.js';

/** One program over the blocks of all pages and the public entry points, so that the sources are read once. */
export class DocsProgram {
  readonly program: ts.Program;
  private readonly modules: ReadonlyMap<string, DocsModule>;

  constructor(modules: readonly DocsModule[]) {
    const root = process.cwd();
    this.modules = new Map(modules.map((module) => [join(root, `${module.page}.${module.line}.ts`), module]));
    const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)) as { config: unknown };
    const { options } = ts.parseJsonConfigFileContent({ ...(config as object), include: [], files: entryPoints }, ts.sys, root);
    const disk = ts.createCompilerHost(options);
    const host: ts.CompilerHost = {
      ...disk,
      fileExists: (path) => this.modules.has(path) || disk.fileExists(path),
      readFile: (path) => this.modules.get(path)?.source ?? disk.readFile(path),
      getSourceFile: (path, language, ...others) => {
        const module = this.modules.get(path);
        return module === undefined
          ? disk.getSourceFile(path, language, ...others)
          : ts.createSourceFile(path, module.source, language, true);
      },
    };
    this.program = ts.createProgram([...this.modules.keys(), ...entryPoints.map((path) => join(root, path))], options, host);
  }

  /** What the compiler says of the blocks, by line of their page. */
  faults(): string[] {
    const faults: string[] = [];
    for (const [path, module] of this.modules) {
      const file = this.program.getSourceFile(path);
      for (const diagnostic of [...this.program.getSyntacticDiagnostics(file), ...this.program.getSemanticDiagnostics(file)]) {
        const at = file?.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line ?? 0;
        const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n  ');
        faults.push(`${module.page}:${module.pageLines[at] ?? module.line}: ${message}`);
      }
    }
    return faults;
  }

  /** The names that users import. */
  exportsOf(entryPoint: (typeof entryPoints)[number]): ts.Symbol[] {
    const checker = this.program.getTypeChecker();
    const file = this.program.getSourceFile(join(process.cwd(), entryPoint));
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${entryPoint} exports nothing`);
    return checker.getExportsOfModule(module);
  }
}

/** Of `millrace`, `millrace/testing` and `millrace/query-server`. */
export const entryPoints = ['src/index.ts', 'src/testing/index.ts', 'src/query-server/index.ts'] as const;
