import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { cacheDirectory } from './cache.js';
import type { StackCredentials } from './credentials.js';
import type { BrokerCount } from './settings.js';

/** The stack that `npm run stack -- up` left running. */
export interface StackState {
  readonly brokers: BrokerCount;
  readonly acl: boolean;
  readonly bootstrapServers: string[];
  readonly registryUrl: string | null;
  readonly credentials: StackCredentials | null;
  readonly pids: number[];
  readonly folder: string;
}

const stateFile = join(cacheDirectory, 'stack.json');

export async function readState(): Promise<StackState | null> {
  try {
    return JSON.parse(await readFile(stateFile, 'utf8')) as StackState;
  } catch {
    return null;
  }
}

export async function writeState(state: StackState): Promise<void> {
  await mkdir(dirname(stateFile), { recursive: true });
  await writeFile(stateFile, JSON.stringify(state, null, 2));
}

export async function removeState(): Promise<void> {
  await rm(stateFile, { force: true });
}

/** Those of the stack's processes that still run; a number that the system gave to another program since does not count. */
export function runningPids({ pids }: StackState): number[] {
  return pids.filter((pid) => /kafka\.Kafka|apicurio-registry/.test(commandLine(pid)));
}

function commandLine(pid: number): string {
  try {
    return process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
