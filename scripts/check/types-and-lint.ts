/**
 * Type errors and lint faults of all files, from one TypeScript program. Most of the time of either is the checker finding out types, which
 * is done here once: `tsc` and `eslint` one after the other would each build the program and do it again. A program of its own, so that
 * the other checks run beside it.
 */
import { ESLint } from 'eslint';
import ts from 'typescript';

const program = programOf('tsconfig.json');
const typeErrors = ts.getPreEmitDiagnostics(program);
if (typeErrors.length > 0) fail(ts.formatDiagnostics(typeErrors, formatHost()));

const eslint = new ESLint({
  overrideConfig: { files: ['**/*.ts'], languageOptions: { parserOptions: { programs: [program] } } },
});
const results = await eslint.lintFiles(['.']);
if (results.some(({ errorCount, warningCount }) => errorCount + warningCount > 0)) {
  fail(await (await eslint.loadFormatter('stylish')).format(results));
}

function programOf(configFile: string): ts.Program {
  const config = ts.getParsedCommandLineOfConfigFile(configFile, undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic(diagnostic) {
      throw new Error(ts.formatDiagnostic(diagnostic, formatHost()));
    },
  });
  if (config === undefined) throw new Error(`${configFile} can't be read`);
  const { fileNames: rootNames, options, errors: configFileParsingDiagnostics } = config;
  // The rules walk from a node to its parents.
  const host = ts.createCompilerHost(options, true);
  return ts.createProgram({ rootNames, options, configFileParsingDiagnostics, host });
}

function formatHost(): ts.FormatDiagnosticsHost {
  return {
    getCurrentDirectory: () => ts.sys.getCurrentDirectory(),
    getCanonicalFileName: (path) => path,
    getNewLine: () => '\n',
  };
}

function fail(text: string): void {
  console.log(text.trim());
  process.exitCode = 1;
}
