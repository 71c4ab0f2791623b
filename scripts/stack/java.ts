import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The commands that start the stack when it is not run by Docker. */
export interface JavaTools {
  readonly java: string;
  readonly maven: string;
}

/** JVM arguments that keep temporary files inside `folder`, even those of a JVM that is killed. */
export function leaveNothing(folder: string): string[] {
  return ['-XX:-UsePerfData', `-Djava.io.tmpdir=${folder}`];
}

/** Says what to install; printed as it is, without a stack trace. */
export class MissingToolsError extends Error {
  override readonly name = 'MissingToolsError';
}

/** Finds Java 17+ (`JAVA_HOME` first, then the path) and Maven, or throws one {@link MissingToolsError} that names all that is missing. */
export async function findJavaTools(): Promise<JavaTools> {
  const home = process.env['JAVA_HOME'];
  const java = home ? join(home, 'bin', 'java') : 'java';
  const maven = 'mvn';
  const [javaVersion, hasMaven] = await Promise.all([javaMajorVersion(java), answers(maven, ['-v'])]);
  const missing: string[] = [];
  if (javaVersion === null) missing.push('Java 17 or newer (no `java` found)');
  else if (javaVersion < 17) missing.push(`Java 17 or newer (\`${java}\` is Java ${javaVersion})`);
  if (!hasMaven) missing.push('Maven 3.6 or newer (no `mvn` found)');
  if (missing.length === 0) return { java, maven };
  throw new MissingToolsError(
    `The local Kafka needs ${missing.join(' and ')}.\n` +
      `Install it and run this again, or start the same stack with Docker:\n\n` +
      `  docker compose up -d\n` +
      `  export KAFKA_BROKERS=localhost:9092 SCHEMA_REGISTRY_URL=http://localhost:8081/apis/ccompat/v7`,
  );
}

async function javaMajorVersion(java: string): Promise<number | null> {
  try {
    const { stderr, stdout } = await run(java, ['-version']);
    const match = /version "(?:1\.)?(\d+)/.exec(stderr + stdout);
    return match ? Number(match[1]) : null;
  } catch {
    return null;
  }
}

async function answers(command: string, args: string[]): Promise<boolean> {
  try {
    await run(command, args);
    return true;
  } catch {
    return false;
  }
}
