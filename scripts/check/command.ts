import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Check } from './check.js';

/**
 * The tools make trees of every file and drop them soon after. Room for young objects (MiB, of three such spaces; Node's default is 16)
 * spares the collector a tenth of the time.
 */
const nodeOptions = `${process.env.NODE_OPTIONS ?? ''} --max-semi-space-size=64`.trim();

/**
 * A check that runs one of the installed tools; it holds when the tool exits with 0.
 *
 * @param isLongest the others wait for it when there are too few processors, so that it is not what the run ends with
 */
export function commandCheck(name: string, tool: string, args: readonly string[], isLongest = false): Check {
  return {
    name,
    async run() {
      const child = spawn(`node_modules/.bin/${tool}`, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, NODE_OPTIONS: nodeOptions },
      });
      if (!isLongest && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
      const code = await new Promise<number | null>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      return code === 0 ? null : output.trim() || `exit code ${code}`;
    },
  };
}
