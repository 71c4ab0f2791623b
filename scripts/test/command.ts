import { spawn } from 'node:child_process';

export interface CommandOptions {
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Do not show standard output (standard error is always shown). */
  readonly discardOutput?: boolean;
}

/** Runs a command in the foreground; its output is shown as it comes and returned. */
export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...options.env } });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (!options.discardOutput) process.stdout.write(text);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, stdout };
}
