import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';

/** Compiles src/ into dist/ (JavaScript and declarations), from nothing. Returns whether that worked; the compiler says why not. */
export function build(): boolean {
  rmSync('dist', { recursive: true, force: true });
  return spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' }).status === 0;
}
