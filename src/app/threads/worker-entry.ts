/**
 * The first module of a worker. A worker inherits the process's `execArgv`, and with it loaders that `--import` registers; tsx registers itself in the main thread
 * alone, so it is registered here anew where the topology, or this library, is TypeScript.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';

const threadMain = new URL(`./thread-main${extname(import.meta.url)}`, import.meta.url).href;

/** @param module URL of the topology module */
export function workerEntry(module: string): URL {
  const isTypeScript = [threadMain, module].some((url) => /\.[cm]?tsx?(\?|$)/.test(url));
  const loader = isTypeScript && runsTsx() ? tsxRegistration(module) : null;
  const first = loader === null ? '' : `(await import(${JSON.stringify(loader)})).register();`;
  return new URL(`data:text/javascript,${encodeURIComponent(`${first} await import(${JSON.stringify(threadMain)});`)}`);
}

function runsTsx(): boolean {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((text) => /\btsx\b/.test(text));
}

/** Where tsx is found from the module, or else from here; null: nowhere. */
function tsxRegistration(module: string): string | null {
  for (const from of [module, import.meta.url]) {
    try {
      const manifest = createRequire(from).resolve('tsx/package.json');
      const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as TsxManifest;
      return new URL(exports['./esm/api'].import.default, pathToFileURL(manifest)).href;
    } catch {
      // The next place may have it.
    }
  }
  return null;
}

interface TsxManifest {
  readonly exports: { readonly './esm/api': { readonly import: { readonly default: string } } };
}
