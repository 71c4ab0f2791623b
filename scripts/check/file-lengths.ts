import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Check } from './check.js';

/** A file that is longer holds more than one idea. */
const mostLines = 500;

/** No source file of the library is so long that it has to be split. */
export const fileLengthsCheck: Check = {
  name: 'file lengths',
  async run() {
    const faults: string[] = [];
    for (const entry of await readdir('src', { recursive: true })) {
      if (!entry.endsWith('.ts')) continue;
      const lines = (await readFile(join('src', entry), 'utf8')).split('\n').length - 1;
      if (lines > mostLines)
        faults.push(`${join('src', entry)}: ${lines} lines, at most ${mostLines}: move its second idea to a file of its own`);
    }
    return faults.length > 0 ? faults.join('\n') : null;
  },
};
