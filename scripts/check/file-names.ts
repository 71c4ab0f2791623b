import { readdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Check } from './check.js';

const roots = ['src', 'test', 'integration-tests', 'conformance', 'bench', 'examples', 'scripts'];
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/;
const saysNothing = /^(utils?|helpers?|common|misc|shared)\./;

/** Source files have kebab-case names that say what is in them. */
export const fileNamesCheck: Check = {
  name: 'file names',
  async run() {
    const faults: string[] = [];
    for (const root of roots.filter((candidate) => existsSync(candidate))) {
      for (const entry of await readdir(root, { recursive: true })) {
        const name = basename(entry);
        if (!/\.(ts|mjs)$/.test(name) || /(^|\/)(target|node_modules)\//.test(entry)) continue;
        if (!kebabCase.test(name)) faults.push(`${join(root, entry)}: not in kebab-case`);
        else if (saysNothing.test(name)) faults.push(`${join(root, entry)}: the name does not say what is in it`);
      }
    }
    return faults.length > 0 ? faults.join('\n') : null;
  },
};
