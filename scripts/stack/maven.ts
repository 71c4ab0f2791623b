import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Runs Maven quietly; `onLine` sees each line of its output. Throws with the end of that output when it fails. */
export async function runMaven(maven: string, args: readonly string[], onLine: (line: string) => void = () => undefined): Promise<void> {
  const child = spawn(maven, ['-B', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const tail: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      tail.push(line);
      if (tail.length > 25) tail.shift();
      onLine(line);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`\`mvn ${args.join(' ')}\` failed:\n${tail.join('\n')}`);
}
