/**
 * What a measured process says: one JSON object a line on stdout, the same from every side. `at` is the wall clock of the machine, ms, which
 * all processes of a run share.
 */
import type { MemoryMetricsSnapshot } from '../../src/index.js';

export type SideReport =
  /** The app is built and its start is called next: runtime start-up is over. */
  | { readonly event: 'starting'; readonly at: number }
  /** An app's new state, in lower case. */
  | { readonly event: 'state'; readonly at: number; readonly state: string }
  /** Every 10 ms: records processed since the start, CPU time of the process, ms. */
  | { readonly event: 'progress'; readonly at: number; readonly processed: number; readonly cpuMs: number }
  /** Told four times a second when asked for: partitions of the tasks that run here; copies kept here, and records that all of them are behind. */
  | { readonly event: 'tasks'; readonly at: number; readonly active: readonly number[]; readonly copies: number; readonly lag: number }
  /** As often as it was told: what the process holds, bytes. `privateBytes`: resident but not of a file (Linux only, else all that is resident). */
  | {
      readonly event: 'memory';
      readonly at: number;
      readonly processed: number;
      readonly privateBytes: number;
      readonly fileBytes: number;
      readonly heapUsed: number;
      readonly heapTotal: number;
      readonly arrayBuffers: number;
      readonly held: MemoryMetricsSnapshot | null;
    }
  /** A store is restored; `records` over all stores so far. */
  | { readonly event: 'restored'; readonly at: number; readonly records: number }
  /** What a producer or consumer program measured itself, after its warm-up. */
  | { readonly event: 'result'; readonly at: number; readonly records: number; readonly ms: number; readonly cpuMs: number };

type WithoutTime<R> = R extends SideReport ? Omit<R, 'at'> : never;

/** Says it, from a Node process. */
export function sayReport(report: WithoutTime<SideReport>): void {
  process.stdout.write(`${JSON.stringify({ at: Date.now(), ...report })}\n`);
}

/** CPU time of this process so far, ms. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
}
