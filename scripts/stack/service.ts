import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Keeper } from './keeper.js';

/** A command that runs in the background and writes to a log file. */
export interface ServiceCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
}

/** A started {@link ServiceCommand}. */
export class Service {
  private exited = false;

  private constructor(
    readonly name: string,
    readonly pid: number,
    private readonly logFile: string,
    private readonly keeper: Keeper,
    private readonly exit: Promise<void>,
  ) {
    void exit.then(() => {
      this.exited = true;
    });
  }

  static async start({ name, command, args, logFile }: ServiceCommand, keeper: Keeper): Promise<Service> {
    mkdirSync(dirname(logFile), { recursive: true });
    const log = openSync(logFile, 'a');
    // A process group of its own: a Ctrl-C on the terminal ends the owner, whose keeper then ends this.
    const child = spawn(command, args, { stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', () => resolve(child.pid ?? 0));
    });
    child.unref();
    keeper.addProcess(pid);
    return new Service(name, pid, logFile, keeper, exit);
  }

  /** Throws, with the end of the log, when the process is gone. */
  assertRunning(): void {
    if (this.exited) throw new Error(`${this.name} ended; the end of its log:\n${this.logTail()}`);
  }

  logTail(): string {
    return readFileSync(this.logFile, 'utf8').split('\n').slice(-30).join('\n');
  }

  /** Sends `signal` and waits for the end; a process that takes more than 20 s to obey is killed. */
  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (!this.exited) {
      process.kill(this.pid, signal);
      const abort = new AbortController();
      const kill = delay(20_000, undefined, { signal: abort.signal }).then(
        () => process.kill(this.pid, 'SIGKILL'),
        () => undefined,
      );
      await this.exit;
      abort.abort();
      await kill;
    }
    this.keeper.forgetProcess(this.pid);
  }
}
