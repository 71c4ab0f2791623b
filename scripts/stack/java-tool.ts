import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { installKafka } from './install.js';
import { findJavaTools } from './java.js';

export interface JavaToolResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

export interface JavaToolOptions {
  /** Text for its standard input. */
  readonly input?: string;
  /** Killed after this many ms. Default 60 000. */
  readonly timeoutMs?: number;
}

/**
 * Runs one of Kafka's own command-line tools, e.g. `org.apache.kafka.tools.consumer.ConsoleConsumer` or `org.apache.kafka.tools.DumpLogSegments`,
 * out of the jars of the local stack; or a program in one source file that uses those jars, by the file's path. Does not throw on a failing exit code.
 */
export async function runKafkaTool(mainClass: string, args: readonly string[], options: JavaToolOptions = {}): Promise<JavaToolResult> {
  const tools = await findJavaTools();
  const jars = await installKafka(tools, () => undefined);
  const logging = `-Dlog4j2.configurationFile=${join(import.meta.dirname, 'log4j2.properties')}`;
  const child = spawn(tools.java, ['-Xmx256m', '-XX:TieredStopAtLevel=1', logging, '-cp', join(jars, '*'), mainClass, ...args], {
    stdio: 'pipe',
    timeout: options.timeoutMs ?? 60_000,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { stdout, stderr, code };
}
