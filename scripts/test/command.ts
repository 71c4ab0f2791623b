import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';

export interface CommandOptions {
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Do not show standard output (standard error is always shown). */
  readonly discardOutput?: boolean;
  /** Something else runs meanwhile and comes first: the command gets what is left of the processor, and its output is shown when it has ended. */
  readonly isBeside?: boolean;
}

/** Runs a command; its output is shown and returned. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...options.env } });
  if (options.isBeside && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (!options.discardOutput && !options.isBeside) process.stdout.write(text);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (options.isBeside) process.stdout.write(stdout);
  return { code, stdout };
}
