import { readFileSync } from 'node:fs';

export interface ResidentMemory {
  /** Of the process's own: heaps, buffers, caches, stacks. */
  readonly privateBytes: number;
  /** Of files that are mapped into it: its program, LevelDB's tables. The system takes it back when it needs to, as it does pages of files that are read without being mapped. */
  readonly fileBytes: number;
}

/** What of a process is in memory, bytes; null where the system does not tell, and for a process that is gone. */
export function readResidentMemory(pid: number | 'self'): ResidentMemory | null {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return null;
  }
  const privateBytes = bytesOf(status, 'RssAnon');
  const fileBytes = bytesOf(status, 'RssFile');
  return privateBytes === null || fileBytes === null ? null : { privateBytes, fileBytes };
}

function bytesOf(status: string, name: string): number | null {
  const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}
