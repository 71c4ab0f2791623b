/**
 * A measured process and what it has said. It ends when its standard input is closed, so it never outlives the harness; a process that ends
 * on its own with an error fails whatever waits for it.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Keeper } from '../../scripts/stack/keeper.js';
import { readResidentMemory } from './resident-memory.js';
import type { SideReport } from './side-report.js';

type ReportOf<E extends SideReport['event']> = Extract<SideReport, { event: E }>;

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

export class SideProcess {
  /** Called with what the process tells of its memory. */
  onMemory: (report: ReportOf<'memory'>) => void = () => undefined;
  /** In the order in which they came. */
  readonly progress: ReportOf<'progress'>[] = [];
  /** The app's state, when it has said one. */
  state: ReportOf<'state'> | null = null;
  private readonly child: ChildProcess;
  private readonly exited: Promise<number | null>;
  private readonly listeners = new Set<(report: SideReport) => void>();
  private readonly errorLines: string[] = [];
  private readonly memoryTimer: NodeJS.Timeout;
  private peakMemory: number | null = null;

  constructor(
    private readonly command: Command,
    private readonly keeper: Keeper,
  ) {
    this.child = spawn(command.file, command.args, { cwd: command.cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    this.exited = once(this.child, 'close').then(([code]) => code as number | null);
    const { pid, stdin, stdout, stderr } = this.child;
    if (pid !== undefined) keeper.addProcess(pid);
    stdin?.on('error', () => undefined);
    if (stdout) createInterface({ input: stdout }).on('line', (line) => this.hear(line));
    if (stderr) createInterface({ input: stderr }).on('line', (line) => this.errorLines.push(line));
    this.memoryTimer = setInterval(() => this.readMemory(), 100);
    void this.exited
      .catch(() => undefined)
      .then(() => {
        clearInterval(this.memoryTimer);
        if (pid !== undefined) keeper.forgetProcess(pid);
      });
  }

  /** The most private memory that a look every 100 ms has found, bytes; null where the system does not tell. */
  get peakMemoryBytes(): number | null {
    this.readMemory();
    return this.peakMemory;
  }

  /** CPU time at the first report at or after `at`, or at the last one, ms. */
  cpuMsAt(at: number): number {
    const report = this.progress.find((candidate) => candidate.at >= at) ?? this.progress.at(-1);
    return report?.cpuMs ?? 0;
  }

  /** Waits for a progress report at or after `at`, so that {@link cpuMsAt} can tell that moment's. */
  async progressFrom(at: number): Promise<void> {
    await this.report('progress', 10_000, (report) => report.at >= at);
  }

  /** The first report from now on of this kind, that passes `wanted`; rejects when the process fails before, or after `timeoutMs`. */
  async report<E extends SideReport['event']>(
    event: E,
    timeoutMs: number,
    wanted: (report: ReportOf<E>) => boolean = () => true,
  ): Promise<ReportOf<E>> {
    let listener: ((report: SideReport) => void) | undefined;
    const heard = new Promise<ReportOf<E>>((resolve) => {
      listener = (report) => {
        if (isOf(report, event) && wanted(report)) resolve(report);
      };
      this.listeners.add(listener);
    });
    try {
      return await this.unlessItEnds(heard, timeoutMs);
    } finally {
      if (listener) this.listeners.delete(listener);
    }
  }

  /** What `awaited` gives; rejects when the process fails before, or after `timeoutMs`. */
  async unlessItEnds<T>(awaited: Promise<T>, timeoutMs: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(this.failure(`said nothing for ${timeoutMs / 1000} s`)), timeoutMs);
    });
    const ended = this.exited.then((code) => {
      // An app that has processed enough ends on its own.
      return code === 0 ? awaited : Promise.reject(this.failure(`ended with code ${code}`));
    });
    try {
      return await Promise.race([awaited, ended, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Lets the process close what it has, and waits until it is gone. */
  async close(): Promise<void> {
    this.child.stdin?.end();
    const code = await this.unlessItEnds(this.exited, 90_000);
    if (code !== 0) throw this.failure(`ended with code ${code}`);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  private hear(line: string): void {
    if (!line.startsWith('{')) return;
    const report = JSON.parse(line) as SideReport;
    if (report.event === 'progress') this.progress.push(report);
    if (report.event === 'state') this.state = report;
    if (report.event === 'memory') this.onMemory(report);
    for (const listener of this.listeners) listener(report);
  }

  private readMemory(): void {
    const memory = this.child.pid === undefined ? null : readResidentMemory(this.child.pid);
    if (memory !== null) this.peakMemory = Math.max(this.peakMemory ?? 0, memory.privateBytes);
  }

  private failure(what: string): Error {
    const { file, args } = this.command;
    return new Error(`${file} ${args.join(' ')}\n${what}:\n${this.errorLines.slice(-30).join('\n')}`);
  }
}

function isOf<E extends SideReport['event']>(report: SideReport, event: E): report is ReportOf<E> {
  return report.event === event;
}
