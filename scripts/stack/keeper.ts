import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';

/** The owner's end of keeper-process.mjs: what is registered here does not outlive this process. */
export interface Keeper {
  addProcess(pid: number): void;
  forgetProcess(pid: number): void;
  addFolder(path: string): void;
  /** Lets everything live on after the owner. */
  release(): Promise<void>;
  /** Kills and removes what is still registered, and resolves when that is done. */
  close(): Promise<void>;
}

export function startKeeper(): Keeper {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'keeper-process.mjs')], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  });
  const closed = once(child, 'exit');
  const input = child.stdin;
  // Neither the process nor the pipe keeps the owner from ending.
  child.unref();
  if (input instanceof Socket) input.unref();
  input.on('error', () => undefined);
  const say = (line: string): void => void input.write(`${line}\n`);
  const close = async (): Promise<void> => {
    child.ref();
    input.end();
    await closed;
  };
  return {
    addProcess: (pid) => say(`pid ${pid}`),
    forgetProcess: (pid) => say(`forget ${pid}`),
    addFolder: (path) => say(`folder ${path}`),
    release() {
      say('release');
      return close();
    },
    close,
  };
}
