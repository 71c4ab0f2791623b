import { readFileSync } from 'node:fs';

/** The most resident memory that a process has had, bytes, as Linux tells it; null elsewhere and for a process that is gone. */
export function readPeakMemory(pid: number): number | null {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}
