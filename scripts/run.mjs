// Runs a TypeScript script of this repository: `node scripts/run.mjs FILE [arguments]`. Works straight after `git clone`: what is
// missing in node_modules is installed first. Uses nothing but Node itself until then.
import { spawn } from 'node:child_process';
import { installIfStale } from './install/dependencies.mjs';

const root = new URL('..', import.meta.url).pathname;
const [file, ...args] = process.argv.slice(2);
installIfStale(root);

const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
  cwd: root,
  stdio: 'inherit',
  // tsx would leave its cache in the system's temporary folder.
  env: { ...process.env, TSX_DISABLE_CACHE: '1' },
});
// The terminal sends Ctrl-C to the child as well; other signals reach only this process. Both wait for the child to tidy up.
process.on('SIGINT', () => undefined);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});
