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

/** What of this process is resident, bytes: memory of its own, and files that are mapped into it; null where the system does not tell. */
export function readResidentMemory(): { readonly privateBytes: number; readonly fileBytes: number } | null {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
    return { privateBytes: bytes('RssAnon'), fileBytes: bytes('RssFile') };
  } catch {
    return null;
  }
}
